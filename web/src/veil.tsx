// What lies over a run that is not of the text beside it: why, and that something is done about it.

import { useEffect, useState } from "preact/hooks";

interface Props {
  /** refused says why the text was not played, or is empty. */
  refused: string;
  isBusy: boolean;
  /** seconds is how long a run may take. */
  seconds: number;
  hasRun: boolean;
  /** onAgain plays the same text again, where it may help. */
  onAgain: (() => void) | undefined;
}

/** Veil is not seen over a run that is only late by a moment. */
export function Veil({ refused, isBusy, seconds, hasRun, onAgain }: Props) {
  return (
    <div class={`veil${refused ? "" : " late"}`}>
      <div class="why">
        {isBusy ? (
          <Progress seconds={seconds} />
        ) : (
          <>
            <h2>Not played</h2>
            <p>{refused}</p>
            {onAgain && (
              <button type="button" onClick={onAgain}>
                Play again
              </button>
            )}
          </>
        )}
        {hasRun && <p class="hint">What lies below is the run of an earlier text.</p>}
      </div>
    </div>
  );
}

function Progress({ seconds }: { seconds: number }) {
  const [elapsed, setElapsed] = useState(0);
  useEffect(() => {
    const begun = performance.now();
    const timer = setInterval(() => setElapsed((performance.now() - begun) / 1000), 200);
    return () => clearInterval(timer);
  }, []);
  return (
    <>
      <h2>Playing what is written now…</h2>
      <progress max={seconds} value={elapsed} aria-label="Time that has passed" />
      <p>
        {Math.floor(elapsed)} s of at most {seconds} s
      </p>
    </>
  );
}
