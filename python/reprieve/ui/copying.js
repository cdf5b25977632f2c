// Buttons that copy a text or save it as a file.

import { html } from "./draw.js";

const SAID_MS = 1500;

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A page from a folder or of an insecure address may not use the clipboard in the new way.
    const area = html("textarea", { class: "offstage", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

/** A button that copies what `text` returns, and says so. */
export function copyButton(label, text) {
  const button = html("button", { type: "button" }, label);
  button.onclick = async () => {
    const copied = text();
    button.dataset.copied = copied;
    await copy(copied);
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = label;
    }, SAID_MS);
  };
  return button;
}

/** A button that saves what `text` returns under a name. */
export function downloadButton(label, name, text, type = "text/plain") {
  const button = html("button", { type: "button" }, label);
  button.onclick = () => {
    const url = URL.createObjectURL(new Blob([text()], { type }));
    html("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  };
  return button;
}
