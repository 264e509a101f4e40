// Which steps a process map shows. A step is [from, to, count]; −1 is the start as from, the end as to.

const MOST_STEPS = 90;

/** Compare two paths: the wider first, then the one with the more frequent last step, then by place. */
const compareWays = (a, b) => b.width - a.width || b.step[2] - a.step[2] || a.to - b.to || a.from - b.from;

/** For each place in wanted, the steps of the widest path to it from the start or, with back, from it to the end. */
const widestWays = (steps, wanted, back) => {
  const cameBy = new Map(), open = [];
  const follow = (place, width) => {
    for (const step of steps) {
      const [from, to] = back ? [step[1], step[0]] : step;
      if (from === place && to !== -1 && !cameBy.has(to)) open.push({ width: Math.min(width, step[2]), step, from, to });
    }
  };
  follow(-1, Infinity);
  while (open.length) {
    // As in flow.py, a place is reached when it leaves the queue: a wider path may be found until then.
    open.sort(compareWays);
    const { width, step, to } = open.shift();
    if (cameBy.has(to)) continue;
    cameBy.set(to, step);
    follow(to, width);
  }
  const ways = new Set();
  for (const place of wanted) {
    for (let at = place; at !== -1 && cameBy.has(at);) {
      const step = cameBy.get(at);
      if (ways.has(step)) break;
      ways.add(step);
      at = back ? step[1] : step[0];
    }
  }
  return ways;
};

/** Choose the most frequent steps between the most frequent activities, and the paths that connect these. */
const chooseSteps = (flow, activities, share) => {
  const order = flow.events.map((many, id) => [many, id]).filter(([many]) => many).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  const places = new Set(order.slice(0, activities).map(([, id]) => id));
  const possible = flow.steps.filter(([from, to]) => (from === -1 || places.has(from)) && (to === -1 || places.has(to)));
  const total = possible.reduce((sum, step) => sum + step[2], 0);
  const kept = new Set([...widestWays(possible, places, false), ...widestWays(possible, places, true)]);
  let mass = 0;
  for (const step of possible) {
    if (mass >= share * total || (kept.size >= MOST_STEPS && !kept.has(step))) break;
    kept.add(step);
    mass += step[2];
  }
  return [...kept];
};
