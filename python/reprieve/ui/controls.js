// Sliders and lists for keys of a scenario.

import { html } from "./draw.js";
import { shareOf, valueAt } from "./scenario.js";

const SLIDER_STEPS = 200;

/** Controls of some keys: `change` is called with a key and its new value as TOML. */
export class Controls {
  /** `name`: the beginning of the controls' ids. */
  constructor(name, place, change) {
    Object.assign(this, { name, place, change, values: new Map() });
  }

  value(key) {
    return String(this.values.get(key) ?? "").replaceAll('"', "");
  }

  /** A list of values, with the present one if it is none of them. */
  choice(label, key, options, onchange = (value) => this.change(key, value)) {
    const select = html("select", { id: `${this.name}-${key}` });
    const now = this.value(key);
    if (!options.some(([value]) => value === now)) {
      options = [[now, now || "as in the scenario"], ...options];
    }
    for (const [value, text] of options) select.append(html("option", { value }, text));
    select.value = now;
    select.onchange = () => onchange(select.value);
    return html("label", { for: select.id }, html("span", {}, label), select);
  }

  /** A slider, or null where the scenario has no such key. */
  slider(spec) {
    const { key, label, unit, absent, suspension, needs } = spec;
    if (needs && this.value(needs) === "") return null;
    if (suspension && this.value("suspension.policy") !== suspension) return null;
    const text = this.value(key);
    let value = text === "" ? NaN : Number(text);
    if (absent && (text === "" || text === "none")) value = null;
    if (Number.isNaN(value)) return null;
    const input = html("input", {
      type: "range", id: `${this.name}-${key}`, min: 0, max: SLIDER_STEPS, title: key,
    });
    const output = html("output", { for: input.id });
    const show = (now) => {
      output.textContent = now === null ? absent : `${now.toLocaleString("en")} ${unit}`;
      input.setAttribute("aria-valuetext", output.textContent);
    };
    input.value = Math.round(shareOf(spec, value) * SLIDER_STEPS);
    show(value);
    input.oninput = () => {
      const now = valueAt(spec, input.value / SLIDER_STEPS);
      show(now);
      this.change(key, now === null ? '"none"' : String(now));
    };
    return html("label", { for: input.id }, html("span", {}, label), input, output);
  }

  /** Draws everything anew; groups stay open or closed. */
  draw(choices, groups) {
    const open = new Map([...this.place.querySelectorAll("details")]
      .map((each) => [each.dataset.group, each.open]));
    const boxes = groups.flatMap(([group, specs, ...further]) => {
      const inside = [...specs.map((spec) => this.slider(spec)), ...further]
        .filter((each) => each !== null);
      if (inside.length === 0) return [];
      const head = html("summary", {}, group);
      const box = html("details", { "data-group": group }, head, ...inside);
      box.open = open.get(group) ?? (group === "Load" || group.startsWith("Limits"));
      return [box];
    });
    this.place.replaceChildren(...choices, ...boxes);
  }
}
