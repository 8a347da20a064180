import type { Signal } from '@preact/signals';
import type { FileTarget } from '../workspace/file-reference.ts';

/** What is shown beside the conversation, or over it on a narrow screen. */
export type AsideTarget =
  | FileTarget
  /** A background command, while it runs and afterwards. */
  | { view: 'command'; commandId: string }
  /** The messages of a sub-agent. */
  | { view: 'agent'; agentId: string }
  /**
   * What belongs to a call. `output`: everything that it has printed. `agent`: the messages of the sub-agent that it has
   * started. `plan`: the question about its plan, or, once that is decided, its result.
   */
  | { view: 'output' | 'agent' | 'plan'; callId: string };

/** Whether it is about files, which only people with the scope `write` may read. */
export const isAboutFiles = (target: AsideTarget): target is FileTarget =>
  target.view === 'files' || target.view === 'changes';

/** Opens the files of the workstream, or closes them. */
export function toggleFiles(aside: Signal<AsideTarget | undefined>): void {
  const shown = aside.peek();
  aside.value = shown && isAboutFiles(shown) ? undefined : { view: 'files' };
}
