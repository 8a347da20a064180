import type { StreamEventOf } from '../../../protocol/stream-events.ts';
import type { GrowingText } from '../terminal/markdown-stream.ts';
import { toSafeText } from '../terminal/safe-text.ts';
import type { Sheet } from '../terminal/sheet.ts';
import { countOf } from '../terminal/tool-lines.ts';
import { cutToRow, wrapWords } from '../terminal/wrap.ts';

/** One answer of the model as it streams: an optional thought, then text. */
export interface Turn {
  readonly thought: string;
  readonly printedLines: number;
  readonly hasPrinted: boolean;
  /** Other lines were printed between those of this answer. */
  readonly wasInterrupted: boolean;
  push(event: StreamEventOf<'reasoning' | 'content'>): void;
  takeFinished(): string[];
  openLines(): string[];
  end(): string[];
  onPrinted(lines: number): void;
  /** Call before other lines are printed in the middle of the answer. */
  interrupt(): void;
}

/** Rows shown of a thought while it streams. */
const THOUGHT_ROWS = 3;

interface TurnDeps {
  text: GrowingText;
  sheet(): Sheet;
  /** `/thought` can be typed. */
  isInteractive: boolean;
}

export function createTurn({ text, sheet, isInteractive }: TurnDeps): Turn {
  let thought = '';
  let said = false;
  /** The thought has been shortened to one line. */
  let folded = false;
  let printedLines = 0;
  let wasInterrupted = false;

  const fold = (): string[] => {
    if (thought === '' || folded) return [];
    folded = true;
    const { paint, columns } = sheet();
    return [toFoldedThought(thought, { paint, columns, isInteractive }), ...(said ? [''] : [])];
  };
  return {
    get thought() {
      return thought;
    },
    get printedLines() {
      return printedLines;
    },
    get hasPrinted() {
      return printedLines > 0;
    },
    get wasInterrupted() {
      return wasInterrupted;
    },
    push(event) {
      if (event.type === 'reasoning') thought += event.text;
      else {
        said ||= event.text.trim() !== '';
        text.push(event.text);
      }
    },
    takeFinished: () => (said ? [...fold(), ...text.takeFinished()] : []),
    openLines: () => (said ? text.openLines() : toThoughtTail(thought, sheet())),
    end: () => [...fold(), ...(said ? text.end() : [])],
    onPrinted(lines) {
      printedLines += lines;
    },
    interrupt() {
      wasInterrupted ||= printedLines > 0;
    },
  };
}

function toFoldedThought(
  thought: string,
  { paint, columns, isInteractive }: Sheet & Pick<TurnDeps, 'isInteractive'>,
): string {
  const safe = toSafeText(thought).trim();
  const [first = ''] = safe.split('\n');
  const rest = countOf(safe.split('\n').length);
  const room = Math.max(10, Math.min(columns, 100) - 30);
  return paint(['dim', 'italic'], `∴ ${cutToRow(first, room)} (${rest}${isInteractive ? '; /thought shows it' : ''})`);
}

function toThoughtTail(thought: string, { paint, columns }: Sheet): string[] {
  const safe = toSafeText(thought.slice(-2_000)).trim();
  if (safe === '') return [];
  return wrapWords(safe, Math.min(columns, 100), { first: '∴ ', rest: '  ' })
    .slice(-THOUGHT_ROWS)
    .map((row) => paint(['dim', 'italic'], row));
}
