// Where boxes and arrows go: ranks from top to bottom, few crossings, straight frequent ways.
// Every number on an arrow has a place of its own between two ranks, so nothing lies under it.

const LETTER = 6.9, LINE = 15, GAP = 16, RANK_GAP = 17;

/** Break a name into at most three short lines. */
const breakName = (name) => {
  const lines = [];
  for (const word of name.split(/\s+/).filter(Boolean)) {
    const last = lines.length - 1;
    if (last >= 0 && lines[last].length + word.length < 22) lines[last] += " " + word;
    else lines.push(word);
  }
  const cut = lines.slice(0, 3).map((line) => (line.length > 24 ? line.slice(0, 23) + "…" : line));
  if (lines.length > 3) cut[2] = cut[2].slice(0, 21) + " …";
  return cut.length ? cut : [""];
};

/** Turn steps round that would close a circle; the most frequent keep their direction. */
const turnCircles = (steps) => {
  const after = new Map();
  const reaches = (from, to, seen = new Set()) =>
    from === to || (after.get(from) ?? []).some((next) => !seen.has(next) && seen.add(next) && reaches(next, to, seen));
  return steps.map((step) => {
    const back = reaches(step.to, step.from);
    const [above, below] = back ? [step.to, step.from] : [step.from, step.to];
    after.set(above, [...(after.get(above) ?? []), below]);
    return { ...step, above, below, back };
  });
};

/** The rank of every place: as far down as its longest way from above; odd ranks hold numbers. */
const rankPlaces = (places, edges) => {
  const rank = new Map(places.map((place) => [place, 0]));
  for (let moved = true, rounds = 0; moved && rounds <= places.length; rounds += 1) {
    moved = false;
    for (const { above, below } of edges) if (rank.get(below) < rank.get(above) + 2) { rank.set(below, rank.get(above) + 2); moved = true; }
  }
  // Places that hang from nothing above move down to what they lead to.
  for (const place of places) {
    const next = edges.filter((edge) => edge.above === place).map((edge) => rank.get(edge.below));
    if (place !== "start" && next.length && !edges.some((edge) => edge.below === place)) rank.set(place, Math.min(...next) - 2);
  }
  // The end is below everything else, wherever its own ways would put it.
  if (rank.has("end")) rank.set("end", Math.max(rank.get("end"), 2 + Math.max(0, ...places.filter((place) => place !== "end").map((place) => rank.get(place)))));
  return rank;
};


/** Order each rank so that few arrows cross: by the middle of its neighbours, back and forth. */
const orderRanks = (ranks, links) => {
  const near = (node, up) => links.get(node)[up ? 0 : 1];
  const crossings = () => {
    let number = 0;
    for (let r = 1; r < ranks.length; r += 1) {
      const at = new Map(ranks[r].map((node, i) => [node, i]));
      const ends = ranks[r - 1].flatMap((node) => near(node, false).map((other) => at.get(other)).sort((a, b) => a - b));
      for (let i = 0; i < ends.length; i += 1) for (let j = i + 1; j < ends.length; j += 1) if (ends[i] > ends[j]) number += 1;
    }
    return number;
  };
  let best = ranks.map((rank) => [...rank]), fewest = crossings();
  for (let round = 0; round < 14 && fewest; round += 1) {
    const up = round % 2 === 0;
    for (let k = 1; k < ranks.length; k += 1) {
      const r = up ? k : ranks.length - 1 - k;
      const at = new Map(ranks[up ? r - 1 : r + 1].map((node, i) => [node, i]));
      const here = new Map(ranks[r].map((node, i) => [node, i]));
      const wish = new Map(ranks[r].map((node) => {
        const there = near(node, up).map((other) => at.get(other)).filter((i) => i !== undefined);
        return [node, there.length ? there.reduce((a, b) => a + b) / there.length : here.get(node)];
      }));
      ranks[r].sort((a, b) => wish.get(a) - wish.get(b) || here.get(a) - here.get(b));
    }
    const now = crossings();
    if (now < fewest) { fewest = now; best = ranks.map((rank) => [...rank]); }
  }
  return best;
};

/** Nodes of a rank as near as can be to where they want to be, in order and without touching. */
const settle = (rank, wish, weight) => {
  // Least squares under an order is pooling neighbours that are in each other's way.
  const groups = [];
  let offset = 0;
  rank.forEach((node, i) => {
    if (i) offset += (rank[i - 1].width + node.width) / 2 + GAP;
    groups.push({ sum: (wish.get(node) - offset) * weight.get(node), weight: weight.get(node), members: [[node, offset]] });
    while (groups.length > 1 && groups.at(-1).sum / groups.at(-1).weight < groups.at(-2).sum / groups.at(-2).weight) {
      const last = groups.pop();
      groups.at(-1).sum += last.sum; groups.at(-1).weight += last.weight; groups.at(-1).members.push(...last.members);
    }
  });
  for (const group of groups) for (const [node, shift] of group.members) node.x = group.sum / group.weight + shift;
};

const placeNodes = (ranks, links, heavy) => {
  for (const rank of ranks) {
    let x = 0;
    for (const node of rank) { node.x = x + node.width / 2; x += node.width + GAP; }
    for (const node of rank) node.x -= x / 2;
  }
  for (let round = 0; round < 24; round += 1) {
    const up = round % 2 === 0;
    for (let k = 0; k < ranks.length; k += 1) {
      const rank = ranks[up ? k : ranks.length - 1 - k];
      const wish = new Map(), weight = new Map();
      for (const node of rank) {
        const [above, below] = links.get(node);
        const others = round < 20 ? (up ? above : below) : [...above, ...below];
        let sum = 0, total = 0;
        for (const other of others) { const w = heavy(node, other); sum += w * other.x; total += w; }
        wish.set(node, total ? sum / total : node.x);
        weight.set(node, (total || 0.1) * (node.bend ? 3 : 1));
      }
      settle(rank, wish, weight);
    }
  }
};

/** Lay out a map: nodes with their places, arrows with their curves and the place of their number. */
const layOut = (steps, label) => {
  const key = (place, end) => (place === -1 ? (end ? "end" : "start") : place);
  const loops = steps.filter((step) => step.from === step.to && step.from !== -1);
  const edges = turnCircles(steps.filter((step) => step.from !== step.to || step.from === -1).map((step) => ({ ...step, from: key(step.from, false), to: key(step.to, true) })));
  const places = [...new Set([...edges.flatMap((edge) => [edge.from, edge.to]), ...loops.map((step) => step.from)])];
  const rank = rankPlaces(places, edges);
  const looped = new Map(loops.map((step) => [step.from, step]));
  const nodes = new Map(places.map((place) => {
    const point = place === "start" || place === "end";
    const lines = point ? [] : breakName(data.activities[place]);
    const width = point ? 22 : Math.max(6, ...lines.map((line) => line.length)) * LETTER + 26;
    const side = looped.has(place) ? 30 + label(looped.get(place)).length * 6.4 : 0;
    return [place, { place, lines, box: width, width: width + 2 * side, height: point ? 22 : LINE * (lines.length + 1) + 10, rank: rank.get(place) }];
  }));
  const ranks = Array.from({ length: Math.max(0, ...rank.values()) + 1 }, () => []);
  const links = new Map();
  const add = (node) => { ranks[node.rank].push(node); links.set(node, [[], []]); return node; };
  for (const node of nodes.values()) add(node);
  const join = (above, below) => { links.get(above)[1].push(below); links.get(below)[0].push(above); };
  for (const edge of edges) {
    const top = nodes.get(edge.above), bottom = nodes.get(edge.below);
    const middle = top.rank + 2 * Math.floor((bottom.rank - top.rank - 1) / 4) + 1;
    edge.bends = [];
    for (let r = top.rank + 1; r < bottom.rank; r += 1) {
      const holds = r === middle;
      const bend = add({ bend: true, rank: r, count: edge.count, height: holds ? 16 : 0, width: holds ? label(edge).length * 6.4 + 6 : 8 });
      if (holds) edge.number = bend;
      join(edge.bends.at(-1) ?? top, bend);
      edge.bends.push(bend);
    }
    join(edge.bends.at(-1) ?? top, bottom);
  }
  const ordered = orderRanks(ranks, links);
  // Long arrows want to be straight, and frequent ones more than others.
  const most = Math.max(1, ...edges.map((edge) => edge.count));
  placeNodes(ordered, links, (a, b) => (a.bend && b.bend ? 8 : 1) * (1 + 7 * Math.max(a.count ?? 0, b.count ?? 0) / most));
  let y = 6;
  for (const each of ordered) {
    const high = Math.max(0, ...each.map((node) => node.height));
    for (const node of each) { node.y = y + high / 2; node.deep = high; }
    y += high + RANK_GAP;
  }
  const all = [...links.keys()];
  const left = Math.min(...all.map((node) => node.x - node.width / 2)) - 8;
  for (const node of all) node.x -= left;
  return {
    nodes: [...nodes.values()], edges, loops: loops.map((step) => ({ ...step, node: nodes.get(step.from) })),
    width: Math.max(...all.map((node) => node.x + node.width / 2)) + 8, height: y - RANK_GAP + 8, ranks: ordered,
  };
};

/** The bends of an arrow without those next to its ends that a smoother curve can do without. */
const neededBends = (layout, edge, [start, end]) => {
  const bends = [...edge.bends];
  const isFree = (rank, y, [x0, y0], [x1, y1]) => {
    const x = x0 + ((x1 - x0) * (y - y0)) / (y1 - y0);
    return layout.ranks[rank].every((other) => edge.bends.includes(other) || Math.abs(other.x - x) > other.width / 2 + 8);
  };
  /** Whether nothing is in the way from an end to the bend after next, not even the boxes next to that. */
  const canSkip = (bend, next, place, side) => {
    if (next === undefined || bend === edge.number) return false;
    const line = [[next.x, next.y], place];
    return isFree(bend.rank, bend.y, ...line) && isFree(next.rank, next.y + (side * next.deep) / 2, ...line);
  };
  if (canSkip(bends[0], bends[1], start, -1)) bends.shift();
  if (canSkip(bends.at(-1), bends.at(-2), end, 1)) bends.pop();
  return bends;
};

/** The curve of an arrow through its bends, from border to border; heads stay free of numbers. */
const curveOf = (layout, edge) => {
  const top = layout.nodes.find((node) => node.place === edge.above), bottom = layout.nodes.find((node) => node.place === edge.below);
  const HEAD = 9;
  const port = (node, x) => node.x + Math.max(-0.36, Math.min(0.36, (x - node.x) / Math.max(node.box, 1) / 2)) * node.box;
  const first = edge.bends[0] ?? bottom, last = edge.bends.at(-1) ?? top;
  const ends = [
    [port(top, first.x), top.y + top.height / 2 + (edge.back ? HEAD : 0)],
    [port(bottom, last.x), bottom.y - bottom.height / 2 - (edge.back ? 0 : HEAD)],
  ];
  const points = [ends[0], ...neededBends(layout, edge, ends).map((bend) => [bend.x, bend.y]), ends[1]];
  let path = `M${points[0].map((v) => v.toFixed(1)).join(",")}`;
  // Smooth and never to and fro: the slope at a bend is no steeper than either side allows.
  const slope = (i) => (points[i + 1][0] - points[i][0]) / Math.max(points[i + 1][1] - points[i][1], 1);
  const lean = points.map((_, i) => {
    if (i === 0 || i === points.length - 1) return 0;
    const [a, b] = [slope(i - 1), slope(i)];
    return a * b <= 0 ? 0 : Math.sign(a) * Math.min(Math.abs(a), Math.abs(b), Math.abs(a + b) / 2);
  });
  for (let i = 1; i < points.length; i += 1) {
    const [x0, y0] = points[i - 1], [x1, y1] = points[i], third = (y1 - y0) / 3;
    path += `C${[x0 + lean[i - 1] * third, y0 + third, x1 - lean[i] * third, y1 - third, x1, y1].map((v) => v.toFixed(1)).join(",")}`;
  }
  const [x, end] = edge.back ? points[0] : points.at(-1);
  return { path, head: edge.back ? `${x},${end - HEAD} ${x - 5},${end} ${x + 5},${end}` : `${x},${end + HEAD} ${x - 5},${end} ${x + 5},${end}` };
};
