// What may be done to the chosen object, as the step begins that follows the shown one.

import { useRef, useState } from "preact/hooks";

import { leavesOf, parsePath, parseValue, patchFor, typed } from "./patch.ts";
import { versionAt, type Item, type KubeObject, type PlannedAction, type Problem } from "./run.ts";
import { Dialog } from "./dialog.tsx";

interface Choice {
  name: string;
  hint: string;
  actions: string[];
}

const quoted = (object: unknown) => JSON.stringify(object);

/** choicesFor returns what may be done to an object. */
export function choicesFor(item: Item, strangers: Record<string, KubeObject>, exists: boolean): Choice[] {
  const { id, kind } = item;
  if (item.role === "parent") {
    return [
      { name: "Late cache", hint: `Metacontroller syncs ${id} without having heard of the last step`, actions: [`sync ${id}`] },
      { name: "Crash", hint: `Metacontroller crashes after its first write for ${id}`, actions: ["deliver", `sync ${id} crash@1`] },
      { name: "Lose status", hint: `the write of the status of ${id} is lost`, actions: ["deliver", `sync ${id} lose-status`] },
      { name: "Delete", hint: `delete ${id}, as a user does`, actions: [`delete ${id}`] },
    ];
  }
  const choices: Choice[] = [
    { name: "Fail", hint: `${id} never becomes ready, or its Pods fail`, actions: [`fail ${id}`] },
    { name: "Hold", hint: `Pods of ${id} run, and become neither ready nor done`, actions: [`hold ${id}`] },
    { name: "Flap", hint: `Pods of ${id} become not ready and ready again, twice`, actions: [`flap ${id}`] },
    { name: "Evict", hint: `its Pods are evicted, as by a node short of memory`, actions: [`evict ${id}`] },
    { name: "Vanish", hint: `${id} is deleted by hand, once`, actions: [`vanish ${id}`] },
    { name: "Quota", hint: `no more objects of kind ${kind} may be created`, actions: [`quota ${kind}`] },
  ];
  if (kind === "Pod") choices.push({ name: "Drain", hint: `${id} is evicted, if its PodDisruptionBudgets allow it`, actions: [`drain ${id}`] });
  const stranger = strangers[kind];
  if (stranger && !(kind === "Pod" && exists)) { // a Pod keeps its name while it terminates
    const metadata = { ...(stranger["metadata"] as KubeObject), name: item.name, namespace: item.namespace };
    const create = `create ${quoted({ ...stranger, apiVersion: item.apiVersion, metadata })}`;
    choices.push({ name: "Name taken", hint: `an object of somebody else has the name ${id}`, actions: exists ? [`delete ${id}`, create] : [create] });
  }
  choices.push({ name: "Delete", hint: `delete ${id}, as a user does`, actions: [`delete ${id}`] });
  return choices;
}

const general = ["mend", "restart", "quota off", "wait 5m", "wait timer", "relist Pod", "metric ", "due CronJob/"];

interface Props {
  item: Item;
  step: number;
  strangers: Record<string, KubeObject>;
  onAct: (actions: string[]) => void;
}

export function Actions({ item, step, strangers, onAct }: Props) {
  const [hint, setHint] = useState("");
  const [isEditing, setEditing] = useState(false);
  const version = versionAt(item, step);
  const exists = !!version && version.state !== "gone";
  const choices = choicesFor(item, strangers, exists);
  const tell = (text: string) => ({ onMouseEnter: () => setHint(text), onFocus: () => setHint(text), onMouseLeave: () => setHint(""), onBlur: () => setHint("") });
  return (
    <div class="actions" role="group" aria-label={`Do something to ${item.id} after step ${step}`}>
      <span class="when">After step {step}:</span>
      {choices.map((choice) => (
        <button type="button" title={choice.hint} onClick={() => onAct(choice.actions)} {...tell(choice.hint)}>
          {choice.name}
        </button>
      ))}
      {exists && (
        <button type="button" onClick={() => setEditing(true)} {...tell(`change a field of ${item.id}, as a user does`)}>
          Edit…
        </button>
      )}
      <p class="hint" aria-hidden="true">
        {hint || `It happens as step ${step + 1} begins.`}
      </p>
      {isEditing && version?.object && (
        <Edit
          item={item}
          object={version.object}
          onClose={() => setEditing(false)}
          onEdit={(patch) => {
            setEditing(false);
            onAct([`edit ${item.id} ${patch}`]);
          }}
        />
      )}
    </div>
  );
}

interface EditProps {
  item: Item;
  object: KubeObject;
  onEdit: (patch: string) => void;
  onClose: () => void;
}

function Edit({ item, object, onEdit, onClose }: EditProps) {
  const leaves = leavesOf(object);
  const [path, setPath] = useState(leaves[0]?.path ?? "spec.");
  const [value, setValue] = useState(() => typed(leaves[0]?.value ?? ""));
  const choose = (next: string) => {
    setPath(next);
    const leaf = leaves.find((each) => each.path === next);
    if (leaf) setValue(typed(leaf.value));
  };
  const submit = (event: Event) => {
    event.preventDefault();
    onEdit(JSON.stringify(patchFor(object, parsePath(path), parseValue(value))));
  };
  return (
    <Dialog title={`Edit ${item.id}`} onClose={onClose}>
      <form onSubmit={submit}>
        <label>
          Field
          <input list="leaves" value={path} required autocomplete="off" onInput={(event) => choose(event.currentTarget.value)} />
        </label>
        <datalist id="leaves">
          {leaves.map((leaf) => (
            <option value={leaf.path} />
          ))}
        </datalist>
        <label>
          Value, as JSON or text; null removes the field
          <input value={value} autocomplete="off" onInput={(event) => setValue(event.currentTarget.value)} />
        </label>
        <div class="row">
          <button type="submit" class="main">
            Edit
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface PlanProps {
  actions: PlannedAction[];
  problems: Problem[];
  step: number;
  onRemove: (index: number) => void;
  onAct: (actions: string[]) => void;
}

/** Plan lists what shall happen beside the files, and takes any action as it is written. */
export function Plan({ actions, problems, step, onRemove, onAct }: PlanProps) {
  const field = useRef<HTMLInputElement>(null);
  const add = (event: Event) => {
    event.preventDefault();
    const text = field.current!.value.trim();
    if (text) onAct([text]);
    field.current!.value = "";
  };
  return (
    <section class="plan" aria-label="Actions">
      <h2>Actions</h2>
      {actions.length === 0 && <p class="empty">None: choose an object to break it.</p>}
      <ol>
        {actions.map(({ at, action }, index) => {
          const problem = problems.find((each) => each.action === index);
          return (
            <li>
              <span class="at">{at ? `step ${at}` : "at the end"}</span>
              <code title={action}>{action}</code>
              <button type="button" aria-label={`Remove ${action}`} onClick={() => (onRemove(index), field.current?.focus())}>
                ×
              </button>
              {problem && <p class="problem error">{problem.message}</p>}
            </li>
          );
        })}
      </ol>
      <form onSubmit={add}>
        <input ref={field} list="general" aria-label={`Another action, after step ${step}`} placeholder="restart, wait 5m, …" autocomplete="off" />
        <datalist id="general">
          {general.map((each) => (
            <option value={each} />
          ))}
        </datalist>
        <button type="submit">Add</button>
      </form>
    </section>
  );
}
