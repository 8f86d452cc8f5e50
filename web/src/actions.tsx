// What may be done to the chosen object, as the step begins that follows the shown one.

import { useRef, useState } from "preact/hooks";

import type { ActionKind, Detail } from "./api.ts";
import { leavesOf, parsePath, parseValue, patchFor, typed } from "./patch.ts";
import { versionAt, type Item, type KubeObject, type PlannedAction, type Problem } from "./run.ts";
import { Dialog } from "./dialog.tsx";

interface Choice {
  name: string;
  does: string;
  group: string;
  word: string;
  action: string;
  details: Detail[];
}

/** hasPods tells whether an object is a Pod, or controls one. */
function hasPods(item: Item, objects: Item[]): boolean {
  const index = objects.indexOf(item);
  return item.kind === "Pod" || objects.some((each) => each !== item && each.versions.at(0)?.owner === index && hasPods(each, objects));
}

/** choicesFor returns what may be done to an object. */
export function choicesFor(item: Item, objects: Item[], actions: ActionKind[]): Choice[] {
  const { id, kind, role } = item;
  const isParent = role === "parent";
  const controlsPods = hasPods(item, objects);
  const choices = actions
    .filter(({ of, kinds }) => (of === "parent") === isParent && (of !== "pods" || controlsPods) && (kinds ?? [kind]).includes(kind))
    .map(({ name, does, group, word, of, details }) => ({
      name: name.charAt(0).toUpperCase() + name.slice(1).replaceAll("-", " "),
      does,
      group,
      word,
      action: `${name} ${of === "kind" ? kind : id}`,
      details: (details ?? []).filter((each) => (!each.ofPods || controlsPods) && (each.kinds ?? [kind]).includes(kind)),
    }));
  return isParent ? [...choices, { name: "Delete", does: "a person deletes it", group: "people", word: "delete it", action: `delete ${id}`, details: [] }] : choices;
}

const general = ["mend", "restart", "quota off", "refuse Pod off", "wait 5m", "wait timer", "relist Pod", "metric ", "due CronJob/"];

const groups = [
  { name: "Pod", title: "Pod" },
  { name: "cluster", title: "Cluster" },
  { name: "people", title: "People" },
  { name: "Metacontroller", title: "Metacontroller" },
];

/** tellBy returns what tells of a button or a list while somebody is at it. */
function tellBy(onHint: (text: string) => void, text: string) {
  return { onMouseEnter: () => onHint(text), onFocus: () => onHint(text), onMouseLeave: () => onHint(""), onBlur: () => onHint("") };
}

interface Props {
  item: Item;
  step: number;
  objects: Item[];
  actions: ActionKind[];
  onAct: (action: string) => void;
}

export function Actions({ item, objects, step, actions, onAct }: Props) {
  const [hint, setHint] = useState("");
  const [isEditing, setEditing] = useState(false);
  const version = versionAt(item, step);
  const exists = !!version && version.state !== "gone";
  const choices = choicesFor(item, objects, actions);
  return (
    <div class="actions" role="group" aria-label={`Do something to ${item.id} after step ${step}`}>
      <p class="hint" aria-hidden="true">
        {hint || `Break it: what you press happens as step ${step + 1} begins.`}
      </p>
      {groups.map(({ name, title }) => {
        const ofGroup = choices.filter(({ group }) => group === name);
        const hasEdit = name === "people" && exists;
        if (ofGroup.length === 0 && !hasEdit) return null;
        return (
          <fieldset key={name}>
            <legend>{title}</legend>
            {ofGroup.map((choice) => (
              <Choose key={choice.name} choice={choice} onHint={setHint} onAct={onAct} />
            ))}
            {hasEdit && (
              <button type="button" onClick={() => setEditing(true)} {...tellBy(setHint, "change a field, as a person does")}>
                <b>Edit…</b> <small>change a field</small>
              </button>
            )}
          </fieldset>
        );
      })}
      {isEditing && version?.object && (
        <Edit
          item={item}
          object={version.object}
          onClose={() => setEditing(false)}
          onEdit={(patch) => {
            setEditing(false);
            onAct(`edit ${item.id} ${patch}`);
          }}
        />
      )}
    </div>
  );
}

interface ChooseProps {
  choice: Choice;
  onHint: (text: string) => void;
  onAct: (action: string) => void;
}

/** Choose is a button, and where there are several ways to do it, which one. */
function Choose({ choice, onHint, onAct }: ChooseProps) {
  const { name, word, action, details } = choice;
  const [how, setHow] = useState("");
  const hintOf = (way: string) => details.find((each) => each.name === way)?.does ?? choice.does;
  const hint = hintOf(how);
  const choose = (way: string) => {
    setHow(way);
    onHint(hintOf(way));
  };
  const tell = tellBy(onHint, hint);
  const button = (
    <button type="button" title={hint} onClick={() => onAct(`${action} ${how}`.trim())} {...tell}>
      <b>{name}</b> <small>{word}</small>
    </button>
  );
  if (details.length === 0) return button;
  return (
    <span class="ways">
      {button}
      <select aria-label={`${name}: how`} title={hint} value={how} onChange={(event) => choose(event.currentTarget.value)} {...tell}>
        <option value="">how…</option>
        {details.map((each) => (
          <option value={each.name}>
            {each.name === how ? how : `${each.name}: ${each.does}`}
          </option>
        ))}
      </select>
    </span>
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
  onAct: (action: string) => void;
}

/** Plan lists what shall happen beside the files, and takes any action as it is written. */
export function Plan({ actions, problems, step, onRemove, onAct }: PlanProps) {
  const field = useRef<HTMLInputElement>(null);
  const add = (event: Event) => {
    event.preventDefault();
    const text = field.current!.value.trim();
    if (text) onAct(text);
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
