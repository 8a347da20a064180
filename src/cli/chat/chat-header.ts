import type { HealthSummary } from '../../../protocol/methods/health.ts';
import { healthProblems } from '../../../protocol/text/health-words.ts';
import { findHostTimeZone } from '../../host-time-zone.ts';
import { toLocal } from '../local-time.ts';
import type { Paint } from '../terminal/paint.ts';
import { toSafeText } from '../terminal/safe-text.ts';
import type { Sheet } from '../terminal/sheet.ts';
import { wrapWords } from '../terminal/wrap.ts';

/** Whether calls run without asking, and until when. `untilMs` undefined: without an end. */
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
  const keys = paint('dim', '/help lists the commands, /keys the keys · Esc stops an answer · Ctrl-D leaves');
  return [title, keys, ...toAutoApproveLines(chat.autoApprove, paint)].flatMap((line) => wrapWords(line, columns));
}

/** A warning while calls run without asking, with the time when that ends. */
export function toAutoApproveLines({ isOn, untilMs }: AutoApprove, paint: Paint): string[] {
  if (!isOn) return [];
  const tz = findHostTimeZone();
  // Whole minutes only: the daemon's clock decides, and this one may differ.
  const until = untilMs === undefined ? '' : ` until ${toLocal(untilMs - (untilMs % 60_000), { tz })}`;
  return [paint('yellow', `! This workstream runs every call without asking${until}.`)];
}

/** One sentence for each current problem. */
export const toNotices = (health: HealthSummary): string[] =>
  [...health.notices, ...healthProblems(health)].map(({ text }) => toSafeText(text));
