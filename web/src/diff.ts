// The lines in which two texts differ.

export interface Line {
  mark: " " | "+" | "-";
  text: string;
}

const most = 1_000_000; // cells of the table; objects of a cluster have a few hundred lines

/** diff returns the lines of both texts in order: what is in both, what is new, what has gone. */
export function diff(old: string[], now: string[]): Line[] {
  let start = 0;
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start++;
  let end = 0;
  while (end < Math.min(old.length, now.length) - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  const same = (texts: string[]): Line[] => texts.map((text) => ({ mark: " ", text }));
  return [
    ...same(now.slice(0, start)),
    ...middle(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...same(now.slice(now.length - end)),
  ];
}

function middle(old: string[], now: string[]): Line[] {
  const [rows, columns] = [old.length, now.length];
  const common: Uint32Array[] = [];
  const isLarge = rows * columns > most;
  for (let i = rows; i >= 0 && !isLarge; i--) {
    const row = (common[i] = new Uint32Array(columns + 1));
    for (let j = columns - 1; j >= 0 && i < rows; j--) {
      row[j] = old[i] === now[j] ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, row[j + 1]!);
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < rows || j < columns) {
    if (!isLarge && i < rows && j < columns && old[i] === now[j]) {
      lines.push({ mark: " ", text: now[j]! });
      i++;
      j++;
    } else if (i < rows && (isLarge || j === columns || common[i + 1]![j]! >= common[i]![j + 1]!)) {
      lines.push({ mark: "-", text: old[i++]! });
    } else {
      lines.push({ mark: "+", text: now[j++]! });
    }
  }
  return lines;
}
