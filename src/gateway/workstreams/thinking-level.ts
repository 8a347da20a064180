import { GatewayError } from '../../../protocol/errors.ts';
import type { Effort } from '../../../protocol/stream-events.ts';

const LEVELS: Record<string, string> = {
  off: 'off',
  min: 'minimal',
  minimal: 'minimal',
  think: 'minimal',
  low: 'low',
  thinkhard: 'low',
  'think-hard': 'low',
  med: 'medium',
  medium: 'medium',
  thinkharder: 'medium',
  harder: 'medium',
  high: 'high',
  ultra: 'high',
  ultrathink: 'high',
  thinkhardest: 'high',
  highest: 'high',
  max: 'high',
};

const VERBOSE: Record<string, string> = {
  on: 'on',
  full: 'on',
  true: 'on',
  yes: 'on',
  '1': 'on',
  off: 'off',
  false: 'off',
  no: 'off',
  '0': 'off',
};

/** The canonical name of a thinking level. Accepts synonyms that clients use, ignoring case. */
export const toThinkingLevel = (word: string): string => lookUp(LEVELS, word, THINKING_WORDS);
export const toVerboseLevel = (word: string): string => lookUp(VERBOSE, word, VERBOSE_WORDS);
export const effortOfLevel = (word: string): Effort => toEffort(toThinkingLevel(word));

const THINKING_WORDS = 'invalid thinkingLevel (use off|minimal|low|medium|high)';
const VERBOSE_WORDS = 'invalid verboseLevel (use "on"|"off")';

function lookUp(words: Record<string, string>, word: string, problem: string): string {
  const key = word.trim().toLowerCase();
  const found = Object.hasOwn(words, key) ? words[key] : undefined;
  if (found === undefined) throw new GatewayError('INVALID_REQUEST', problem);
  return found;
}

/** thinkingLevel off, minimal, low → low; medium; high (default medium). */
export function toEffort(thinkingLevel: string | null): Effort {
  if (thinkingLevel === 'high') return 'high';
  return thinkingLevel === null || thinkingLevel === 'medium' ? 'medium' : 'low';
}
