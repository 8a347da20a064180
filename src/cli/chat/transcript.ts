import type { WorkstreamSnapshot } from '../../../protocol/methods/workstream.ts';
import type { StreamEvent, WorkstreamState } from '../../../protocol/stream-events.ts';
import type { Here } from '../local-time.ts';
import type { GrowingText } from '../terminal/markdown-stream.ts';
import type { Question } from '../terminal/question-lines.ts';
import type { Screen } from '../terminal/screen.ts';
import type { Sheet } from '../terminal/sheet.ts';
import type { ToolCall, toResultLines } from '../terminal/tool-lines.ts';
import type { Cards } from './cards/card.ts';

export interface TranscriptDeps {
  screen: Pick<Screen, 'print' | 'retract' | 'rows' | 'columns'>;
  sheet(): Sheet;
  here(): Here;
  /** Renders an answer as it streams. */
  grow(): GrowingText;
  /** On a terminal, earlier messages and times are shown, and hints name the commands that show more. */
  isInteractive: boolean;
  /** Whether this client started the run. */
  isMyRun(runId: string): boolean;
  isMyDecision(approvalId: string): boolean;
}

/** The events of a workstream as lines, in the order of its log. */
export interface Transcript {
  readonly state: WorkstreamState;
  /** The model has not begun to answer. */
  readonly isWaiting: boolean;
  /** The pending approval. */
  readonly question: Question | undefined;
  /** The finished calls. */
  readonly cards: Pick<Cards, 'all'>;
  readonly lastThought: string;
  onSnapshot(snapshot: WorkstreamSnapshot): void;
  onEvent(event: StreamEvent): void;
  /** Prints a block of lines that does not come from the log. */
  print(lines: readonly string[]): void;
  /** Prints how a call ended; the last card has all of its output. */
  printResult(call: ToolCall, result: Parameters<typeof toResultLines>[1]): void;
  /** Prints the finished part of the streaming answer. */
  flush(): void;
  /** The unfinished part, in at most about `maxRows` rows. */
  liveLines(maxRows: number): string[];
}
