import { isFromPerson, type Message } from '../../message.ts';

/** Words with which people give rules that hold from then on. */
const RULE =
  /\b(always|never|from now on|must|mustn.t|do not|don.t|remember|make sure|rule|prefer|only|without exception|immer|niemals|nie|ab jetzt|ab sofort|merk[e]? dir|nicht|nur)\b/i;
/** Words of wishes, which often are rules, too: "Please use pnpm", "Answer in French". */
const WISH =
  /\b(please|should|shouldn.t|use|avoid|important|want|need|call (me|it)|my name|instead|without|at least|at most|bitte|soll|verwende|wichtig|möchte)\b|^(answer|write|reply|speak|work|keep|run|test|format|name|put|store|save|commit|leave|treat|assume)\b/i;
/** Words that nearly every longer text in English or German has, and texts in other languages rarely. */
const KNOWN_LANGUAGE =
  /\b(the|and|it|this|that|these|you|your|what|how|with|which|und|ist|ich|eine[mnrs]?|wie|auf|oder|dass|wird)\b|(?<!\p{L})für(?!\p{L})/iu;
const MOST_CHARS = 500;
/** More lines than this are pasted, not written. */
const MOST_LINES = 12;
/** "- " and the end of the line. */
const LIST_MARK = 3;

/**
 * Sentences in which the person seems to give a rule, word for word, oldest first and each one once. In languages whose
 * words for rules are unknown here, those are all statements. If they do not all fit into `bytes`, clear rules come
 * before wishes, and newer ones before older ones; then statements, the shortest first, as rules are short.
 */
export function findRules(messages: readonly Message[], bytes: number): string[] {
  const found = messages.flatMap((message) => {
    if (message.role === 'user' && message.summary) return message.summary.rules;
    // What a watch printed or another agent wrote must not become a rule of the person.
    return isFromPerson(message) ? quotesOf(message.content) : [];
  });
  const all = [...new Set(found)];
  const rules = newestLines(all.filter(isRule), bytes);
  const wishes = newestLines(all.filter(isWish), bytes - bytesOf(rules));
  const left = bytes - bytesOf(rules) - bytesOf(wishes);
  const statements = shortestLines(
    all.filter((sentence) => !isRuleOrWish(sentence)),
    left,
  );
  const kept = new Set([...rules, ...wishes, ...statements]);
  return all.filter((sentence) => kept.has(sentence));
}

/** How many of the sentences have words that give rules. */
export const countClear = (sentences: readonly string[]): number => sentences.filter(isRuleOrWish).length;

function quotesOf(text: string): string[] {
  const sentences = sentencesOf(text);
  const isPasted = text.split('\n').length > MOST_LINES;
  return sentences.filter(isPasted || KNOWN_LANGUAGE.test(text) ? isRuleOrWish : isRuleOrStatement);
}

const isRuleOrStatement = (sentence: string): boolean => isRuleOrWish(sentence) || isStatement(sentence);

/** Mostly letters, more than a word of thanks, and not a question. */
function isStatement(sentence: string): boolean {
  const letters = sentence.match(/[\p{L}\p{M}]/gu)?.length ?? 0;
  const ends = /[?？؟;；]$/u.test(sentence) || /^[¿]/u.test(sentence);
  return letters >= LEAST_LETTERS && letters * 2 > sentence.length && !ends;
}

const LEAST_LETTERS = 6;

const isWish = (sentence: string): boolean => !isRule(sentence) && WISH.test(sentence);
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

/** The shortest lines that fit into `bytes` together, in their order. */
function shortestLines(lines: readonly string[], bytes: number): string[] {
  let left = bytes;
  const sizes = lines.map((line) => Buffer.byteLength(line) + LIST_MARK);
  const kept = new Set<number>();
  const byLength = sizes.map((size, index) => ({ size, index })).sort((a, b) => a.size - b.size);
  for (const { size, index } of byLength) {
    left -= size;
    if (left < 0) break;
    kept.add(index);
  }
  return lines.filter((_, index) => kept.has(index));
}

const sentencesOf = (text: string): string[] =>
  text
    .split(/\n+|(?<=[.!?…؟।])\s+|(?<=[。！？])/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '' && sentence.length <= MOST_CHARS);
