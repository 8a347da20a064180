import type { HealthSummary } from '../../../protocol/methods/health.ts';
import { isModelTrouble } from '../../../protocol/model-trouble.ts';
import { toLocal } from '../local-time.ts';
import type { Paint } from '../terminal/paint.ts';
import { toSafeText } from '../terminal/safe-text.ts';
import type { Sheet } from '../terminal/sheet.ts';
import { wrapWords } from '../terminal/wrap.ts';

/** Whether calls run without a question, and until when; without an end where none is given. */
export interface AutoApprove {
  isOn: boolean;
  untilMs: number | undefined;
}

interface Chat {
  name: string;
  model: string;
  workdir: string;
  autoApprove: AutoApprove;
}

/** What a person should know before the first message. */
export function toChatHeader(chat: Chat, { paint, columns }: Sheet): string[] {
  const { name, model, workdir } = chat;
  const title = `${paint('bold', `Headgate · ${toSafeText(name)}`)} · ${toSafeText(model)} · ${toSafeText(workdir)}`;
  const keys = paint('dim', '/help says what can be typed · Ctrl-C stops an answer · Ctrl-D leaves');
  return [title, keys, ...toAutoApproveLines(chat.autoApprove, paint)].flatMap((line) => wrapWords(line, columns));
}

/** A warning while nothing is asked, with the time when that ends. */
export function toAutoApproveLines({ isOn, untilMs }: AutoApprove, paint: Paint): string[] {
  if (!isOn) return [];
  const tz = Intl.DateTimeFormat().resolvedOptions().timeZone;
  // In whole minutes: what counts is the daemon's clock.
  const until = untilMs === undefined ? '' : ` until ${toLocal(untilMs - (untilMs % 60_000), { tz })}`;
  return [paint('yellow', `! This workstream runs every call without asking${until}.`)];
}

/** What is not as it should be, one sentence each. */
export function toNotices({ notices, store, backend, sandbox, model }: HealthSummary): string[] {
  return [
    ...notices.map(({ text }) => text),
    ...(store.status === 'degraded' ? [`Nothing can be saved at the moment${because(store.reason)}.`] : []),
    ...(backend.status === 'down' && !notices.some(isModelTrouble)
      ? [`The model ${model} cannot be reached at the moment.`]
      : []),
    ...(sandbox.active ? [] : [`Commands run without a sandbox${because(sandbox.reason)}.`]),
  ].map(toSafeText);
}

const because = (reason: string | undefined) => (reason === undefined || reason === '' ? '' : ` (${reason})`);
