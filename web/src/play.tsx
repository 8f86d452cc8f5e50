// The page of operetta play: what is written on its left is played by the program that serves it.

import { render } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import { Actions, Plan } from "./actions.tsx";
import * as api from "./api.ts";
import { Editor } from "./editor.tsx";
import { Graph } from "./graph.tsx";
import { Inspector } from "./inspector.tsx";
import { Outcomes, outcomesOf } from "./outcomes.tsx";
import { noRun, type Problem, type Run, type Scenario } from "./run.ts";
import { Save } from "./save.tsx";
import { scenarioIn } from "./share.ts";
import { Timeline } from "./timeline.tsx";
import "./play.css";

const pause = 60; // milliseconds without a key, after which what was typed is played

const nonce = document.querySelector("script")?.nonce ?? "";

/** place says where a problem is. */
function place(problem: Problem, scenario: Scenario): string {
  const file = scenario.files[problem.file ?? 0]?.name ?? "";
  const where = problem.line ? `${scenario.files.length > 1 ? `${file}, ` : ""}line ${problem.line}: ` : "";
  return where + (problem.field ? `${problem.field}: ` : "") + problem.message;
}

function told(run: Run, scenario: Scenario): string {
  const wrong = run.problems.filter((problem) => problem.severity === "error");
  if (run.steps.length === 0 && wrong[0]) return `Not played: ${place(wrong[0], scenario)}`;
  return `Played ${run.steps.length} steps. ${outcomesOf(run).map((each) => each.text).join(" ")}`;
}

function App() {
  const [scenario, setScenario] = useState<Scenario>();
  const [loaded, setLoaded] = useState(0); // counts what was opened: each is another document to the editor
  const [file, setFile] = useState(0);
  const [run, setRun] = useState<Run>(noRun);
  const [played, setPlayed] = useState<Scenario>(); // what run, problems and status are about
  const [problems, setProblems] = useState<Problem[]>([]);
  const [step, setStep] = useState(1);
  const [chosen, setChosen] = useState("");
  const [status, setStatus] = useState("");
  const [samples, setSamples] = useState<api.Sample[]>([]);
  const [schemas, setSchemas] = useState<api.Schemas>({ kinds: [], strangers: {} });
  const [goto, setGoto] = useState<{ line: number }>();
  const kinds = useRef(schemas.kinds);
  kinds.current = schemas.kinds;
  const next = useRef<number | undefined>(undefined); // the step to show when the next run is there
  const atEnd = useRef(true);
  const linked = useRef<Scenario | undefined>(undefined); // what the address has
  const notice = useRef(""); // to be told before how the next run ended

  const open = useCallback((opened: Scenario) => {
    setScenario(opened);
    setLoaded((count) => count + 1);
    setFile(0);
    setChosen("");
    atEnd.current = true;
  }, []);
  const fail = (error: Error) => setStatus(error.message);

  useEffect(() => {
    const fromLink = () =>
      scenarioIn(location.hash).then((shared) => {
        linked.current = shared;
        if (shared) open(shared);
        return shared;
      });
    fromLink()
      .catch((error: Error) => {
        notice.current = `The link is damaged (${error.message}): this is another run. `;
        return undefined;
      })
      .then(async (shared) => shared ?? open((await api.start()).scenario))
      .catch(fail);
    api.samples().then(setSamples, fail);
    api.schemas().then(setSchemas, fail);
    const changed = () => void fromLink().catch(() => setStatus("The link is damaged."));
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);

  const show = (answer: Run, of: Scenario) => {
    setPlayed(of);
    setProblems(answer.problems);
    setStatus(notice.current + told(answer, of));
    notice.current = "";
    if (answer.steps.length === 0 && answer.problems.some((p) => p.severity === "error")) return;
    const steps = Math.max(1, answer.steps.length);
    setStep((now) => Math.min(steps, next.current ?? (atEnd.current ? steps : now)));
    next.current = undefined;
    setRun(answer);
  };
  useEffect(() => {
    if (!scenario) return;
    if (linked.current && linked.current !== scenario) {
      history.replaceState(null, "", location.pathname); // to load the page again must not bring back what was before
      linked.current = undefined;
    }
    const timer = setTimeout(() => {
      api.play(scenario).then(
        (answer) => answer && show(answer, scenario),
        (error: Error) => {
          setPlayed(scenario);
          fail(error);
        },
      );
    }, pause);
    return () => clearTimeout(timer);
  }, [scenario]);

  const move = useCallback(
    (to: number) => {
      const steps = Math.max(1, run.steps.length);
      const now = Math.max(1, Math.min(steps, to));
      atEnd.current = now === steps;
      setStep(now);
    },
    [run],
  );
  const found = run.objects.findIndex((item) => item.id === chosen);
  const index = found >= 0 ? found : run.objects.length > 0 ? 0 : -1;
  const choose = useCallback((to: number) => setChosen(run.objects[to]?.id ?? ""), [run]);
  if (!scenario) return <p role="status">{status || "Loading…"}</p>;

  const act = (actions: string[]) => {
    const at = step + 1;
    next.current = at;
    setScenario({ ...scenario, actions: [...(scenario.actions ?? []), ...actions.map((action) => ({ at, action }))] });
  };
  const remove = (gone: number) => setScenario({ ...scenario, actions: (scenario.actions ?? []).filter((_, each) => each !== gone) });
  const type = (text: string) =>
    setScenario((now) => now && { ...now, files: now.files.map((each, number) => (number === file ? { ...each, text } : each)) });
  const isStale = problems.some((problem) => problem.severity === "error");
  const item = run.objects[index];
  const shown = { run, step, chosen: index, onStep: move, onChoose: choose };
  return (
    <div class={`app page${isStale ? " stale" : ""}`}>
      <header class="top">
        <h1>
          operetta <span>play</span>
        </h1>
        <label>
          Sample
          <select
            value=""
            onChange={(event) => {
              const sample = samples.find((each) => each.name === event.currentTarget.value);
              if (sample) open({ files: sample.files });
            }}
          >
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
        <Save scenario={scenario} step={step} isPlayed={!isStale} onTell={setStatus} onLink={() => (linked.current = scenario)} />
        <p class="status" role="status">
          {status}
        </p>
      </header>
      <main aria-busy={played !== scenario}>
        <section class="source" aria-label="Custom resources">
          {scenario.files.length > 1 && (
            <label class="files">
              File
              <select value={String(file)} onChange={(event) => setFile(Number(event.currentTarget.value))}>
                {scenario.files.map((each, number) => (
                  <option value={String(number)}>{each.name}</option>
                ))}
              </select>
            </label>
          )}
          <Editor
            key={`${loaded} ${file}`}
            label={`YAML of ${scenario.files[file]?.name ?? "a new file"}`}
            text={scenario.files[file]?.text ?? ""}
            kinds={() => kinds.current}
            problems={problems.filter((problem) => problem.file === file)}
            nonce={nonce}
            onChange={type}
            goto={goto}
          />
          <Problems
            {...{ problems, scenario }}
            onGo={(problem) => {
              setFile(problem.file ?? 0);
              setGoto({ line: problem.line ?? 1 });
            }}
          />
          <Plan actions={scenario.actions ?? []} problems={problems} step={step} onRemove={remove} onAct={act} />
        </section>
        <Outcomes run={run} step={step} />
        <Graph {...shown} />
        <Timeline {...shown} />
        <Inspector {...shown}>{item && <Actions key={item.id} item={item} step={step} strangers={schemas.strangers} onAct={act} />}</Inspector>
      </main>
    </div>
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
