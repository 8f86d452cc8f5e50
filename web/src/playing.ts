// What the page is about: a scenario that somebody changes, its run, and the step that is shown.

import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import * as api from "./api.ts";
import { keep, keptOf } from "./kept.ts";
import { outcomesOf } from "./outcomes.tsx";
import { noRun, type Problem, type Run, type Scenario } from "./run.ts";
import { scenarioIn } from "./share.ts";

const pause = 60; // milliseconds without a key, after which what was typed is played

/** place says where a problem is. */
export function place(problem: Problem, scenario: Scenario): string {
  const file = scenario.files[problem.file ?? 0]?.name ?? "";
  const where = problem.line ? `${scenario.files.length > 1 ? `${file}, ` : ""}line ${problem.line}: ` : "";
  return where + (problem.field ? `${problem.field}: ` : "") + problem.message;
}

const errorsOf = (problems: Problem[]) => problems.filter((problem) => problem.severity === "error");

/** reasonOf says why there is no run of a scenario, or nothing if there is one. */
function reasonOf(run: Run, scenario: Scenario): string {
  const [wrong] = errorsOf(run.problems);
  return run.steps.length === 0 && wrong ? place(wrong, scenario) : "";
}

function told(run: Run, scenario: Scenario): string {
  const reason = reasonOf(run, scenario);
  if (reason) return `Not played: ${reason}`;
  const count = run.steps.length;
  return `Played ${count} ${count === 1 ? "step" : "steps"}. ${outcomesOf(run).map((each) => each.text).join(" ")}`;
}

/**
 * useRun plays a scenario as soon as nothing has changed for a moment. While it is refused, the last run stays:
 * refused says why it is not that of the scenario.
 */
function useRun(scenario: Scenario | undefined, tell: (text: string) => void) {
  const [run, setRun] = useState<Run>(noRun);
  const [problems, setProblems] = useState<Problem[]>([]);
  const [refused, setRefused] = useState("");
  const [played, setPlayed] = useState<Scenario>(); // what run, problems and refused are about
  const [again, setAgain] = useState(0);
  useEffect(() => {
    if (!scenario) return;
    const show = (answer: Run) => {
      const reason = reasonOf(answer, scenario);
      setPlayed(scenario);
      setProblems(answer.problems);
      setRefused(reason);
      tell(told(answer, scenario));
      if (!reason) setRun(answer);
    };
    const fail = (error: Error) => {
      setPlayed(scenario);
      setProblems([]);
      setRefused(error.message);
      tell(`Not played: ${error.message}`);
    };
    const timer = setTimeout(() => api.play(scenario).then((answer) => answer && show(answer), fail), pause);
    return () => clearTimeout(timer);
  }, [scenario, again]);
  const playAgain = () => {
    setPlayed(undefined);
    setAgain(again + 1);
  };
  return { run, problems, refused, playAgain, isBusy: played !== scenario, isWrong: refused !== "" || errorsOf(problems).length > 0 };
}

/** useStep keeps the step that is shown within the run, and at its end if it was there. */
function useStep(run: Run) {
  const [step, setStep] = useState(1);
  const next = useRef<number | undefined>(undefined); // the step to show when the next run is there
  const isAtEnd = useRef(true);
  const last = Math.max(1, run.steps.length);
  const shown = Math.min(last, step);
  useLayoutEffect(() => {
    setStep((now) => Math.min(last, next.current ?? (isAtEnd.current ? last : now)));
    next.current = undefined;
  }, [run]);
  const move = useCallback(
    (to: number) => {
      const now = Math.max(1, Math.min(last, to));
      isAtEnd.current = now === last;
      setStep(now);
    },
    [last],
  );
  return { step: shown, move, await: (to: number) => (next.current = to), toEnd: () => (isAtEnd.current = true) };
}

/** usePlaying is the state of the page. */
export function usePlaying() {
  const [scenario, setScenario] = useState<Scenario>();
  const [opened, setOpened] = useState(0); // counts: each is another document to the editor
  const [status, setStatus] = useState("");
  const [seconds, setSeconds] = useState(0); // that a run may take
  const first = useRef<Scenario | undefined>(undefined); // what the page began with
  const linked = useRef<Scenario | undefined>(undefined); // what the address has
  const notice = useRef(""); // to be told before how the next run ended
  const tell = (text: string) => {
    setStatus(notice.current + text);
    notice.current = "";
  };
  const played = useRun(scenario, tell);
  const shown = useStep(played.run);
  const open = (next: Scenario) => {
    setScenario(next);
    setOpened((count) => count + 1);
    shown.toEnd();
  };
  const openLink = async () => {
    const shared = await scenarioIn(location.hash);
    linked.current = shared;
    if (shared) open(shared);
    return shared !== undefined;
  };
  useEffect(() => {
    const begin = async () => {
      const isOpen = await openLink().catch((error: Error) => {
        notice.current = `The link is damaged (${error.message}): this is another run. `;
        return false;
      });
      const start = await api.start();
      first.current = start.scenario;
      setSeconds(start.seconds);
      if (!isOpen) open(keptOf(start.scenario) ?? start.scenario);
    };
    begin().catch((error: Error) => tell(error.message));
    const changed = () => void openLink().catch(() => tell("The link is damaged."));
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  useLayoutEffect(() => {
    if (scenario && first.current) keep(first.current, scenario); // at once: the page may be loaded again in the next moment
  }, [scenario]);
  useEffect(() => {
    if (!linked.current || linked.current === scenario) return;
    history.replaceState(null, "", location.pathname); // to load the page again must not bring back what was before
    linked.current = undefined;
  }, [scenario]);
  const act = (action: string) => {
    const at = shown.step + 1;
    shown.await(at);
    setScenario((now) => now && { ...now, actions: [...(now.actions ?? []), { at, action }] });
  };
  return { ...played, ...shown, seconds, scenario, setScenario, opened, open, act, status, tell, onLink: () => (linked.current = scenario) };
}

export type Playing = ReturnType<typeof usePlaying>;
