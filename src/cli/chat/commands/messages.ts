import type { HistoryMessage } from '../../../../protocol/stream-events.ts';
import { type Here, toClockTime } from '../../local-time.ts';
import type { Paint } from '../../terminal/paint.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { cutToRow } from '../../terminal/wrap.ts';
import { lastAsked } from './stored-messages.ts';
import { type TalkCommand, toCount } from './talk-command.ts';

const MOST = 500;
/** Over pipes there is no width that would cut a long message. */
const SHOWN_CHARS = 200;

/** `/messages [N]`: lists the last messages of people with the numbers by which commands name them. */
export const listMessages: TalkCommand = async (argument, { talk, sheet, here }) => {
  const count = toCount(argument, { command: '/messages', fallback: 10, most: MOST });
  const messages = await lastAsked(talk.readPage, count);
  const { paint, columns } = sheet();
  const width = Math.max(0, ...messages.map(({ seq }) => `#${seq}`.length));
  const lines = messages.map((message) => cutToRow(toLine(message, { paint, width, here: here() }), columns));
  talk.transcript.print(lines.length === 0 ? ['(no messages yet)'] : lines);
};

function toLine(
  { seq, content, attachments = [], failed, created_ms }: HistoryMessage,
  { paint, width, here }: { paint: Paint; width: number; here: Here },
): string {
  const time = created_ms === undefined ? [] : [paint('dim', toClockTime(created_ms, here))];
  const files = attachments.map(({ filename }) => `+ ${filename}`);
  const text = toSafeText([content ?? '', ...files].join(' '))
    .replaceAll(/\s+/g, ' ')
    .trim();
  const shown = text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
  const mark = failed ? [paint('red', '✖ not answered:')] : [];
  return [`#${seq}`.padStart(width), ...time, ...mark, shown].join('  ');
}
