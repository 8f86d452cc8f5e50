// The page of operetta play: what is written on its left is played by the program that serves it.

import { render } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";

import { Actions, Plan } from "./actions.tsx";
import * as api from "./api.ts";
import { Editor } from "./editor.tsx";
import { Graph } from "./graph.tsx";
import { Inspector } from "./inspector.tsx";
import { Outcomes } from "./outcomes.tsx";
import { place, usePlaying, type Playing } from "./playing.ts";
import type { Problem, Scenario } from "./run.ts";
import { Save } from "./save.tsx";
import { Timeline } from "./timeline.tsx";
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
  const { scenario, run, step, status, tell } = playing;
  const schemas = useAnswer(api.schemas, { kinds: [], actions: [] }, tell);
  const [chosen, setChosen] = useState("");
  const found = run.objects.findIndex((item) => item.id === chosen);
  const index = found >= 0 ? found : run.objects.length > 0 ? 0 : -1;
  const onChoose = useCallback((to: number) => setChosen(run.objects[to]?.id ?? ""), [run]);
  if (!scenario) return <p role="status">{status || "Loading…"}</p>;
  const item = run.objects[index];
  const shown = { run, step, chosen: index, onStep: playing.move, onChoose };
  return (
    <div class={`app page${playing.isWrong ? " stale" : ""}`}>
      <Top playing={playing} scenario={scenario} />
      <main aria-busy={playing.isBusy}>
        <Source key={playing.opened} playing={playing} scenario={scenario} kinds={schemas.kinds} />
        <Outcomes {...shown} />
        <Graph {...shown} />
        <Timeline {...shown} />
        <Inspector {...shown}>{item && <Actions key={item.id} item={item} objects={run.objects} step={step} actions={schemas.actions} onAct={playing.act} />}</Inspector>
      </main>
    </div>
  );
}

function Top({ playing, scenario }: { playing: Playing; scenario: Scenario }) {
  const { step, status, tell, open, setScenario } = playing;
  const samples = useAnswer(api.samples, [], tell);
  const choose = (name: string) => {
    const sample = samples.find((each) => each.name === name);
    if (sample) open({ files: sample.files });
  };
  return (
    <header class="top">
      <h1>
        operetta <span>play</span>
      </h1>
      <label>
        Sample
        <select value="" onChange={(event) => choose(event.currentTarget.value)}>
          <option value="">choose…</option>
          {samples.map((sample) => (
            <option value={sample.name}>{sample.name}</option>
          ))}
        </select>
      </label>
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
