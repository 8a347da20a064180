import type { StreamEventOf } from '../../../../protocol/stream-events.ts';
import type { Sheet } from '../../terminal/sheet.ts';
import { createBackgroundLines } from '../background/background-lines.ts';
import { createAgentLines } from './agent-lines.ts';

/** Prints lines about what goes on beside the conversation: background commands and sub-agents. */
export function createSideLines(print: (lines: string[]) => void) {
  const background = createBackgroundLines(print);
  const agents = createAgentLines(print);
  return {
    tell(event: StreamEventOf<'background_command' | 'sub_agent'>, sheet: Sheet): void {
      if (event.type === 'sub_agent') agents.tell(event, sheet);
      else background.tell(event, sheet);
    },
    titleOf: agents.titleOf,
  };
}
