// What leaves the page: a link, and files.

import { useEffect, useState } from "preact/hooks";

import * as api from "./api.ts";
import { Dialog } from "./dialog.tsx";
import type { Scenario } from "./run.ts";
import { fragmentOf, longest } from "./share.ts";

/** download hands a file to the user. */
export function download(name: string, content: string, type = "text/plain"): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

interface Props {
  scenario: Scenario;
  step: number;
  isPlayed: boolean;
  onTell: (text: string) => void;
  /** onLink is called when the address has the scenario. */
  onLink: () => void;
}

export function Save({ scenario, step, isPlayed, onTell, onLink }: Props) {
  const [open, setOpen] = useState<"" | "share" | "save">("");
  const close = () => setOpen("");
  return (
    <>
      <button type="button" onClick={() => setOpen("share")}>
        Share…
      </button>
      <button type="button" disabled={!isPlayed} onClick={() => setOpen("save")}>
        Save…
      </button>
      {open === "share" && <Share {...{ scenario, onTell, onLink }} onClose={close} />}
      {open === "save" && <Files {...{ scenario, step, onTell }} onClose={close} />}
    </>
  );
}

function Share({ scenario, onTell, onLink, onClose }: Pick<Props, "scenario" | "onTell" | "onLink"> & { onClose: () => void }) {
  const [link, setLink] = useState("");
  const [length, setLength] = useState(0);
  useEffect(() => {
    void fragmentOf(scenario).then((fragment) => {
      setLength(fragment.length);
      if (fragment.length > longest) return;
      history.replaceState(null, "", fragment);
      setLink(location.href);
      onLink();
    });
  }, []);
  const copy = async () => {
    await navigator.clipboard.writeText(link);
    onTell("The link is in the clipboard.");
    onClose();
  };
  return (
    <Dialog title="Share" onClose={onClose}>
      {length > longest ? (
        <p role="alert">
          This needs a link of {Math.ceil(length / 1024)} KiB; there is room for {longest >> 10}. Save it as HTML instead.
        </p>
      ) : (
        <label>
          Whoever runs operetta play at this address sees the same run
          <input readOnly value={link} onFocus={(event) => event.currentTarget.select()} />
        </label>
      )}
      {link && scenario.files.some((file) => /^kind:\s*["']?Secret\b/m.test(file.text)) && (
        <p class="problem error" role="alert">
          The link has the values of the Secrets in the files.
        </p>
      )}
      <div class="row">
        {link && (
          <button type="button" class="main" onClick={() => copy().catch(() => onTell("The browser does not let the page copy: copy the link by hand."))}>
            Copy link
          </button>
        )}
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function Files({ scenario, step, onTell, onClose }: Pick<Props, "scenario" | "step" | "onTell"> & { onClose: () => void }) {
  const [cases, setCases] = useState<api.GoldenCase[]>([]);
  const name = scenario.files[0]?.name.replace(/\.[^.]*$/, "") || "play";
  useEffect(() => {
    api.golden(scenario).then(setCases, (error: Error) => onTell(error.message));
  }, []);
  const save = (form: "story" | "html", file: string, type?: string) =>
    api.text(form, scenario).then(
      (content) => {
        download(file, content, type);
        onTell(`Saved ${file}.`);
        onClose();
      },
      (error: Error) => onTell(error.message),
    );
  const shown = cases.filter((each) => each.step === cases.filter((c) => c.step <= step).at(-1)?.step);
  return (
    <Dialog title="Save" onClose={onClose}>
      <ul class="saves">
        {scenario.files.map((file) => (
          <li>
            <button
              type="button"
              onClick={() => {
                download(file.name, file.text);
                onTell(`Saved ${file.name}.`);
                onClose();
              }}
            >
              YAML
            </button>
            the text of {file.name}, for kubectl and operetta simulate
          </li>
        ))}
        <li>
          <button type="button" onClick={() => save("html", `${name}.html`, "text/html")}>
            HTML
          </button>
          the run in one file, to look at without operetta
        </li>
        <li>
          <button type="button" onClick={() => save("story", `${name}.story`)}>
            Story
          </button>
          for operetta explore --schedule
        </li>
        {shown.map((each) => (
          <li>
            <button
              type="button"
              onClick={() => {
                const file = each.name.split("/").pop()!;
                download(`${file}.in.yaml`, each.in);
                download(`${file}.out.yaml`, each.out);
                onTell(`Saved ${file}.in.yaml and ${file}.out.yaml: move them to testdata/${each.name.slice(0, -file.length)}`);
                onClose();
              }}
            >
              Golden
            </button>
            the call of step {each.step}: testdata/{each.name}.in.yaml and .out.yaml
          </li>
        ))}
      </ul>
      <div class="row">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
