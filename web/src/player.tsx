// The exported file: a run to look at, without an editor and without any request.

import { render } from "preact";
import { useState } from "preact/hooks";

import { Graph } from "./graph.tsx";
import { Inspector } from "./inspector.tsx";
import { Outcomes } from "./outcomes.tsx";
import { Panels } from "./panels.tsx";
import { filled, type Run, type Scenario } from "./run.ts";
import { useSheet } from "./sheet.ts";
import { Timeline } from "./timeline.tsx";
import "./player.css";

function Player({ scenario, run }: { scenario: Scenario; run: Run }) {
  const [step, setStep] = useState(Math.max(1, run.steps.length));
  const [chosen, setChosen] = useState(run.objects.length > 0 ? 0 : -1);
  const sheet = useSheet(chosen);
  const names = scenario.files.map((file) => file.name).join(", ");
  const actions = (scenario.actions ?? []).map(({ at, action }) => (at ? `${action} at step ${at}` : action)).join(", ");
  const choose = (to: number) => (setChosen(to), sheet.open());
  const shown = { run, step, chosen, onStep: setStep, onChoose: choose };
  return (
    <div class="app player" onKeyDown={sheet.onKeyDown}>
      <header class="top">
        <h1>{names}</h1>
        <span class="note">played by operetta{actions && `, with ${actions}`}</span>
      </header>
      <Panels names={["right", "below"]}>
        <Outcomes run={run} step={step} />
        <Graph {...shown} />
        <Timeline {...shown} />
        <Inspector {...shown} isOpen={sheet.isOpen} onClose={sheet.close} />
      </Panels>
    </div>
  );
}

const data = JSON.parse(document.getElementById("run")?.textContent ?? "") as { scenario: Scenario; run: Partial<Run> };
render(<Player scenario={data.scenario} run={filled(data.run)} />, document.getElementById("app")!);
