import type { Message } from '../../message.ts';

/** Words with which people give rules that hold from then on. */
const RULE =
  /\b(always|never|from now on|must|mustn.t|do not|don.t|remember|make sure|rule|prefer|only|without exception|immer|niemals|nie|ab jetzt|ab sofort|merk[e]? dir|nicht|nur)\b/i;
/** Words of wishes, which often are rules, too: "Please use pnpm", "Answer in French". */
const WISH =
  /\b(please|should|shouldn.t|use|avoid|important|want|need|call (me|it)|my name|instead|without|at least|at most|bitte|soll|verwende|wichtig|möchte)\b|^(answer|write|reply|speak|work|keep|run|test|format|name|put|store|save|commit|leave|treat|assume)\b/i;
const MOST_CHARS = 500;
/** "- " and the end of the line. */
const LIST_MARK = 3;

/**
 * Sentences in which the person seems to give a rule, word for word, oldest first and each one once. If they do not all
 * fit into `bytes`, clear rules come before wishes, and newer ones before older ones.
 */
export function findRules(messages: readonly Message[], bytes: number): string[] {
  const found = messages.flatMap((message) => {
    if (message.role !== 'user') return [];
    return message.summary?.rules ?? sentencesOf(message.content).filter(isRuleOrWish);
  });
  const all = [...new Set(found)];
  const rules = newestLines(all.filter(isRule), bytes);
  const wishes = all.filter((sentence) => !isRule(sentence));
  const kept = new Set([...rules, ...newestLines(wishes, bytes - bytesOf(rules))]);
  return all.filter((sentence) => kept.has(sentence));
}

const isRule = (sentence: string): boolean => RULE.test(sentence);
const isRuleOrWish = (sentence: string): boolean => RULE.test(sentence) || WISH.test(sentence);

const bytesOf = (lines: readonly string[]): number =>
  lines.reduce((sum, line) => sum + Buffer.byteLength(line) + LIST_MARK, 0);

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
