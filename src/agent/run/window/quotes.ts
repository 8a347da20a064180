import type { Message } from '../../message.ts';

/** Words with which people give rules that hold from then on. */
const RULE =
  /\b(always|never|from now on|must|mustn.t|do not|don.t|remember|make sure|rule|prefer|only|without exception|immer|niemals|nie|ab jetzt|ab sofort|merk[e]? dir|nicht|nur)\b/i;
const MOST_CHARS = 500;
/** "- " and the end of the line. */
const LIST_MARK = 3;

/** Sentences in which the person seems to give a rule, word for word, oldest first and each one once. */
export function findRules(messages: readonly Message[]): string[] {
  const rules = messages.flatMap((message) => {
    if (message.role !== 'user') return [];
    if (message.summary) return message.summary.rules;
    return sentencesOf(message.content).filter((sentence) => RULE.test(sentence));
  });
  return [...new Set(rules)];
}

/** The newest lines that fit into `bytes` together, oldest first. */
export function newestLines(lines: readonly string[], bytes: number): string[] {
  let left = bytes;
  const tooOld = lines.findLastIndex((line) => {
    left -= Buffer.byteLength(line) + LIST_MARK;
    return left < 0;
  });
  return lines.slice(tooOld + 1);
}

const sentencesOf = (text: string): string[] =>
  text
    .split(/\n+|(?<=[.!?])\s+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '' && sentence.length <= MOST_CHARS);
