import { UsageError } from '../../../start-error.ts';
import { toClockTime } from '../../local-time.ts';
import { toMarkdownLines } from '../../terminal/markdown.ts';
import { findSummary } from './stored-messages.ts';
import type { TalkCommand } from './talk-command.ts';

/** `/summary`: prints the summary that the model reads in place of earlier messages. */
export const showSummary: TalkCommand = async (argument, { talk, sheet, here }) => {
  if (argument !== '') throw new UsageError('Usage: /summary');
  const found = await findSummary(talk.readPage);
  if (!found) {
    talk.transcript.print(['(No messages have been summarized. /compact does it.)']);
    return;
  }
  const { paint, columns } = sheet();
  const { messages, summary, created_ms } = found;
  const count = messages === 1 ? '1 message' : `${messages} messages`;
  talk.transcript.print([
    paint('dim', `Summary of ${count}, ${toClockTime(created_ms, here())}:`),
    '',
    ...toMarkdownLines(summary, { paint, columns }),
  ]);
};
