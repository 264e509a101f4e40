import { find } from "./common.js";

/** The slider and the field of ε say the same: what is typed moves the slider, and back. */
const prices = ["0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "3", "5", "10"];
const slider = find("#slider");

/** The number that a text means: 0.5, 0,5 or 1/2. */
export const numberOf = (text) => {
  const [above, below = "1"] = text.trim().replace(",", ".").split("/");
  return above === "" ? NaN : Number(above) / Number(below);
};

/** Move the slider to where a price lies between those that it stands for. */
export const follow = (text) => {
  const price = numberOf(text);
  slider.setAttribute("aria-valuetext", text);
  if (!(price > 0)) return;
  const logs = prices.map((one) => Math.log(one));
  const at = Math.log(price);
  const next = logs.findIndex((log) => log >= at - 1e-9);
  if (next < 0) slider.value = prices.length - 1;
  else if (next === 0) slider.value = 0;
  else slider.value = next - 1 + (at - logs[next - 1]) / (logs[next] - logs[next - 1]);
};

/** Keys go from one usual price to the next; dragging snaps to the nearest. */
export const onSlider = (choose) => {
  slider.addEventListener("input", () => choose(prices[Math.round(slider.value)]));
  slider.addEventListener("keydown", (event) => {
    const up = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!up) return;
    event.preventDefault();
    const here = Number(slider.value);
    const next = up > 0 ? Math.floor(here + 1 + 1e-6) : Math.ceil(here - 1 - 1e-6);
    choose(prices[Math.min(prices.length - 1, Math.max(0, next))]);
  });
};
