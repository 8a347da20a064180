import type { HealthSummary } from '../../protocol/methods/health.ts';
import type { Sheet } from './markdown.ts';
import { toSafeText } from './safe-text.ts';
import type { Talk } from './talk.ts';
import { wrapWords } from './wrap.ts';

/** What a person should know before the first message. */
export function toChatHeader({ name, model, workdir, autoApprove }: Talk, { paint, columns }: Sheet): string[] {
  const title = `${paint('bold', `Headgate · ${toSafeText(name)}`)} · ${toSafeText(model)} · ${toSafeText(workdir)}`;
  const keys = paint('dim', '/help says what can be typed · Ctrl-C stops an answer · Ctrl-D leaves');
  const warning = paint('yellow', '! This workstream runs every call without asking.');
  return [title, keys, ...(autoApprove ? [warning] : [])].flatMap((line) => wrapWords(line, columns));
}

/** What is not as it should be, one sentence each. */
export function toNotices({ notices, store, backend, sandbox, model }: HealthSummary): string[] {
  const names = (word: RegExp) => notices.some((notice) => word.test(notice));
  return [
    ...notices,
    ...(store.status === 'degraded' ? [`Nothing can be saved at the moment${because(store.reason)}.`] : []),
    ...(backend.status === 'down' && notices.length === 0
      ? [`The model ${model} cannot be reached at the moment.`]
      : []),
    ...(sandbox.active || names(/sandbox/i) ? [] : [`Commands run without a sandbox${because(sandbox.reason)}.`]),
  ].map(toSafeText);
}

const because = (reason: string | undefined) => (reason === undefined || reason === '' ? '' : ` (${reason})`);
