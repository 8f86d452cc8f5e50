// The page of operetta play: what is written on its left is played by the program that serves it.

import { render } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";

import { Actions, Plan } from "./actions.tsx";
import * as api from "./api.ts";
import { Editor } from "./editor.tsx";
import { Graph } from "./graph.tsx";
import { Inspector } from "./inspector.tsx";
import { Outcomes } from "./outcomes.tsx";
import { Panels } from "./panels.tsx";
import { place, usePlaying, type Playing } from "./playing.ts";
import type { Problem, Run, Scenario } from "./run.ts";
import { Save } from "./save.tsx";
import { useSheet } from "./sheet.ts";
import { Timeline } from "./timeline.tsx";
import { Veil } from "./veil.tsx";
import "./play.css";

const nonce = document.querySelector("script")?.nonce ?? "";

/** useAnswer returns what is asked for once, and something else until it is there. */
function useAnswer<T>(ask: () => Promise<T>, until: T, tell: (text: string) => void): T {
  const [answer, setAnswer] = useState(until);
  useEffect(() => void ask().then(setAnswer, (error: Error) => tell(error.message)), []);
  return answer;
}

function App() {
  const playing = usePlaying();
  const { scenario, run, step, status, tell, refused, isBusy } = playing;
  const schemas = useAnswer(api.schemas, { kinds: [], actions: [] }, tell);
  const [chosen, setChosen] = useState("");
  const found = run.objects.findIndex((item) => item.id === chosen);
  const index = found >= 0 ? found : run.objects.length > 0 ? 0 : -1;
  const sheet = useSheet(index);
  const onChoose = useCallback(
    (to: number) => {
      setChosen(run.objects[to]?.id ?? "");
      sheet.open();
    },
    [run],
  );
  if (!scenario) return <p role="status">{status || "Loading…"}</p>;
  const item = run.objects[index];
  const shown = { run, step, chosen: index, onStep: playing.move, onChoose };
  return (
    <div class="app page" onKeyDown={sheet.onKeyDown}>
      <Top playing={playing} scenario={scenario} />
      <Panels names={["left", "right", "below"]} isBusy={isBusy}>
        <Source key={playing.opened} playing={playing} scenario={scenario} kinds={schemas.kinds} />
        <div class="run" inert={refused !== ""}>
          <Outcomes run={run} step={step}>
            {!scenario.actions?.length && run.objects.length > 0 && <First run={run} />}
          </Outcomes>
          <Graph {...shown} />
          <Timeline {...shown} />
          <Inspector {...shown} isOpen={sheet.isOpen} onClose={sheet.close}>
            {item && <Actions key={item.id} item={item} objects={run.objects} step={step} actions={schemas.actions} onAct={playing.act} />}
          </Inspector>
        </div>
        {(isBusy || refused) && <Veil refused={refused} isBusy={isBusy} seconds={playing.seconds} hasRun={run.objects.length > 0} onAgain={playing.problems.length > 0 ? undefined : playing.playAgain} />}
      </Panels>
    </div>
  );
}

/** First says what to try first. */
function First({ run }: { run: Run }) {
  const hasPods = run.objects.some((item) => item.kind === "Pod");
  return (
    <li class="first">
      Break it: choose {hasPods ? "a Pod" : "an object"} in the graph, press {hasPods ? "Evict" : "Vanish"}, and see what comes of it.
    </li>
  );
}

/** Samples shows which one is open, also after an edit. */
function Samples({ samples, scenario, onOpen }: { samples: api.Sample[]; scenario: Scenario; onOpen: (sample: api.Sample) => void }) {
  const same = (sample: api.Sample) => JSON.stringify(sample.files) === JSON.stringify(scenario.files);
  const current = samples.find(same);
  const names = scenario.files.map((file) => file.name.replace(/\.ya?ml$/, "")).join(", ");
  const isEdited = samples.some((sample) => sample.files[0]?.name === scenario.files[0]?.name);
  return (
    <label>
      Sample
      <select value={current?.name ?? ""} onChange={(event) => samples.filter((each) => each.name === event.currentTarget.value).forEach(onOpen)}>
        {!current && <option value="">{isEdited ? `${names}, edited` : names}</option>}
        {samples.map((sample) => (
          <option value={sample.name}>{sample.name}</option>
        ))}
      </select>
    </label>
  );
}

function Top({ playing, scenario }: { playing: Playing; scenario: Scenario }) {
  const { step, status, tell, open, setScenario } = playing;
  const samples = useAnswer(api.samples, [], tell);
  return (
    <header class="top">
      <h1>
        operetta <span>play</span>
      </h1>
      <Samples samples={samples} scenario={scenario} onOpen={(sample) => open({ files: sample.files })} />
      <label>
        Apply
        <select value={scenario.apply ?? "dynamic-apply"} onChange={(event) => setScenario({ ...scenario, apply: event.currentTarget.value })}>
          <option value="dynamic-apply">dynamic</option>
          <option value="server-side-apply">server-side</option>
        </select>
      </label>
      <Save scenario={scenario} step={step} isPlayed={!playing.isWrong} onTell={tell} onLink={playing.onLink} />
      <p class="status" role="status">
        {status}
      </p>
    </header>
  );
}

/** Source is what is played: files and actions. */
function Source({ playing, scenario, kinds }: { playing: Playing; scenario: Scenario; kinds: api.Schemas["kinds"] }) {
  const { problems, setScenario } = playing;
  const [file, setFile] = useState(0);
  const [goto, setGoto] = useState<{ line: number }>();
  const inFile = useMemo(() => problems.filter((problem) => problem.file === file), [problems, file]);
  const latest = useRef(kinds); // for the editor, which is made once
  latest.current = kinds;
  const type = (text: string) =>
    setScenario((now) => now && { ...now, files: now.files.map((each, number) => (number === file ? { ...each, text } : each)) });
  const remove = (gone: number) =>
    setScenario((now) => now && { ...now, actions: (now.actions ?? []).filter((_, number) => number !== gone) });
  const go = (problem: Problem) => {
    setFile(problem.file ?? 0);
    setGoto({ line: problem.line ?? 1 });
  };
  return (
    <section class="source" aria-label="Custom resources">
      {scenario.files.length > 1 && (
        <label class="files">
          File
          <select value={String(file)} onChange={(event) => (setGoto(undefined), setFile(Number(event.currentTarget.value)))}>
            {scenario.files.map((each, number) => (
              <option value={String(number)}>{each.name}</option>
            ))}
          </select>
        </label>
      )}
      <Editor
        key={file}
        label={`YAML of ${scenario.files[file]?.name ?? "a new file"}`}
        text={scenario.files[file]?.text ?? ""}
        kinds={() => latest.current}
        problems={inFile}
        nonce={nonce}
        onChange={type}
        goto={goto}
      />
      <Problems problems={problems} scenario={scenario} onGo={go} />
      <Plan actions={scenario.actions ?? []} problems={problems} step={playing.step} onRemove={remove} onAct={playing.act} />
      {!playing.refused && playing.run.command && <Command line={playing.run.command} isLate={playing.isBusy} unsaved={playing.run.unsaved ?? []} onTell={playing.tell} />}
    </section>
  );
}

/** Command is what plays the run that is shown in a terminal. */
function Command({ line, isLate, unsaved, onTell }: { line: string; isLate: boolean; unsaved: string[]; onTell: (text: string) => void }) {
  const copy = () =>
    navigator.clipboard.writeText(line).then(
      () => onTell("The command is in the clipboard."),
      () => onTell("The browser does not let the page copy: copy the command by hand."),
    );
  return (
    <section class={`command${isLate ? " late" : ""}`} aria-label="The same in a terminal">
      <code tabIndex={0}>{line}</code>
      <button type="button" onClick={copy} aria-label="Copy the command">
        Copy
      </button>
      {unsaved.length > 0 && <p class="hint">It plays the same with {unsaved.join(", ")} as it is here: Save… has it.</p>}
    </section>
  );
}

function Problems({ problems, scenario, onGo }: { problems: Problem[]; scenario: Scenario; onGo: (problem: Problem) => void }) {
  const list = problems.filter((problem) => problem.action === undefined);
  if (list.length === 0) return null;
  return (
    <ul class="problems" aria-label="Problems">
      {list.map((problem) => (
        <li class={`problem ${problem.severity}`}>
          <button type="button" onClick={() => onGo(problem)}>
            {problem.severity}: {place(problem, scenario)}
          </button>
        </li>
      ))}
    </ul>
  );
}

render(<App />, document.getElementById("app")!);
