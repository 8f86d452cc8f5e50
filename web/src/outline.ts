// To which field the lines of a YAML stream belong. It reads lines, not a syntax tree: while somebody
// types, the text is no YAML yet, and completion must work just then.

export type Path = (string | number)[];

interface Frame {
  column: number;
  isItem: boolean;
  path: Path;
  items: number;
}

const keyPattern = /^("(?:[^"\\]|\\.)*"|'[^']*'|[^\s#:'"[\]{},&*!|>%@`-][^:#]*?|-[^\s:][^:#]*?)\s*:(?:\s+(.*))?$/;
const root: Frame = { column: -1, isItem: false, path: [], items: 0 };

/** Outline reads a stream line by line, and knows the fields around the last one. */
export class Outline {
  private frames: Frame[] = [{ ...root }];
  private scalarColumn = -1; // the column of the key of a block scalar that has begun

  /** inScalar reports whether a line that begins at a column is text of a block scalar. */
  inScalar(column: number): boolean {
    return this.scalarColumn >= 0 && column > this.scalarColumn;
  }

  /** parent returns the path of the mapping to which a key at a column belongs. */
  parent(column: number): Path {
    return this.frames.findLast((frame) => frame.column < column)?.path ?? [];
  }

  add(text: string): void {
    if (/^---(\s|$)/.test(text)) {
      this.frames = [{ ...root }];
      this.scalarColumn = -1;
      return;
    }
    let column = text.search(/\S/);
    if (column < 0 || this.inScalar(column)) return;
    this.scalarColumn = -1;
    let rest = text.slice(column);
    if (rest.startsWith("#")) return;
    for (let dash = /^-(\s+|$)/.exec(rest); dash; dash = /^-(\s+|$)/.exec(rest)) {
      this.item(column);
      column += dash[0].length;
      rest = rest.slice(dash[0].length);
    }
    const key = keyPattern.exec(rest);
    if (key) this.key(column, key[1]!.replace(/^["']|["']$/g, ""), key[2] ?? "");
  }

  private top(): Frame {
    return this.frames[this.frames.length - 1]!;
  }

  private item(column: number): void {
    while (this.top().column > column || (this.top().column === column && this.top().isItem)) this.frames.pop();
    const parent = this.top();
    this.frames.push({ column, isItem: true, path: [...parent.path, parent.items++], items: 0 });
  }

  private key(column: number, name: string, value: string): void {
    while (this.top().column >= column) this.frames.pop();
    this.frames.push({ column, isItem: false, path: [...this.top().path, name], items: 0 });
    if (/^[|>][-+0-9]*\s*(#.*)?$/.test(value)) this.scalarColumn = column;
  }
}
