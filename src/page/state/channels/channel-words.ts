import type { ChannelPart, ChannelRow, ChannelSender } from '../../../../protocol/methods/channels/channel.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';

/** How much something needs a person: `good` works, `waiting` may mend itself, `bad` does not, `none` is neither. */
export type Tone = 'good' | 'waiting' | 'bad' | 'none';

export interface ToneWords {
  words: string;
  tone: Tone;
}

const NAMES: Record<string, string> = { telegram: 'Telegram', whatsapp: 'WhatsApp', webhook: 'webhook' };

/** What people call a channel. */
export const channelName = (channel: string): string => NAMES[channel] ?? toVisibleLine(channel);

const STATES: Record<string, ToneWords> = {
  off: { words: 'not set up', tone: 'none' },
  connecting: { words: 'connecting', tone: 'waiting' },
  polling: { words: 'connected', tone: 'good' },
  listening: { words: 'waits for calls', tone: 'good' },
  conflict: { words: 'conflict', tone: 'bad' },
  error: { words: 'error', tone: 'bad' },
};

/** The state of a channel in words. Channels of later releases may have further states. */
export const stateOf = ({ state }: { state: string }): ToneWords =>
  STATES[state] ?? { words: toVisibleLine(state), tone: 'waiting' };

export const isSetUp = ({ state }: Pick<ChannelRow, 'state'>): boolean => state !== 'off';

/** What a state means that is not explained by `why`. */
export function stateAdvice({ state, why }: Pick<ChannelRow, 'state' | 'why'>): string | undefined {
  if (state === 'connecting') return why === undefined ? undefined : 'Headgate tries again by itself.';
  if (state === 'listening') return 'The service calls Headgate. If nothing arrives, check its web hook.';
  if (state === 'error') return 'Headgate does not try again until the settings change.';
  return undefined;
}

export const SENDER_WORDS: Record<ChannelSender['status'], string> = {
  pending: 'waits for approval',
  approved: 'may write',
  revoked: 'revoked',
  restored: 'restored',
  stranger: 'stranger',
};

const PARTS: Record<ChannelPart['state'], ToneWords> = {
  unsent: { words: 'Waits', tone: 'none' },
  sending: { words: 'Being sent', tone: 'none' },
  accepted: { words: 'Sent', tone: 'good' },
  ambiguous: { words: 'May have arrived', tone: 'waiting' },
  failed: { words: 'Failed', tone: 'bad' },
};

export const partWords = ({ state }: Pick<ChannelPart, 'state'>): ToneWords => PARTS[state];

/** Whether a person should look at it. */
export const isProblem = ({ state }: Pick<ChannelPart, 'state'>): boolean =>
  state === 'ambiguous' || state === 'failed';

/** What to do about the parts that did not arrive for sure; undefined if all did. */
export function problemWords(parts: readonly Pick<ChannelPart, 'state'>[]): string | undefined {
  const count = (state: ChannelPart['state']) => parts.filter((part) => part.state === state).length;
  const [unclear, failed] = [count('ambiguous'), count('failed')];
  const told = [
    unclear > 0 &&
      `${counted(unclear, 'part')} may have arrived: look into the chat before you send the message again.`,
    failed > 0 && `${counted(failed, 'part')} failed.`,
  ].filter((words) => words !== false);
  return told.length === 0 ? undefined : told.join(' ');
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
