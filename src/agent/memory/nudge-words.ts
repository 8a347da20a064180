/**
 * Whether a person corrects the agent, or is content with what it did. Only the beginning counts, because long messages
 * quote other texts. The words are English: in other languages, nothing is found and nobody is nudged.
 */
export function stanceOf(text: string): 'correction' | 'completion' | undefined {
  const beginning = text.trimStart().slice(0, LOOKED_AT).replaceAll('’', "'");
  if (CORRECTIONS.some((words) => words.test(beginning))) return 'correction';
  return COMPLETIONS.some((words) => words.test(beginning)) && !beginning.includes('?') ? 'completion' : undefined;
}

const LOOKED_AT = 300;

const CORRECTIONS = [
  /^(?:no|nope|wrong|incorrect)\b(?!\s+(?:problem|worries|rush|need|idea|doubt))/i,
  /^(?:stop|don't|do not|never)\b/i,
  /\b(?:that|this|it)(?:'s| is| was)\s+(?:wrong|incorrect|not\s+(?:right|correct|true|what\s+i))/i,
  /\bi\s+(?:already\s+)?(?:said|told\s+you|asked\s+(?:you\s+)?(?:for|to)|meant)\b/i,
  /\bnot\s+what\s+i\s+(?:asked|wanted|meant|said)\b/i,
  /\byou\s+(?:should(?:n't|\s+not)\s+have|misunderstood|forgot|ignored)\b/i,
  /\b(?:from\s+now\s+on|next\s+time|in\s+(?:the\s+)?future|always|never)\b.{0,40}\b(?:use|do|don't|run|write|ask|call|put|add|keep)\b/i,
];

const COMPLETIONS = [
  /^(?:thanks|thank\s+you|thx|perfect|great|excellent|awesome|lgtm|looks\s+good|well\s+done|nice)\b/i,
  /\b(?:that|it|this|everything)\s+(?:works|worked|is\s+working)\b(?!\s+(?:badly|except|only))/i,
  /\b(?:we're|we\s+are|i'm|i\s+am|that's\s+it,?\s+we're)\s+done\b/i,
  /^(?:that's|that\s+is)\s+(?:all|it|perfect|great|exactly)\b/i,
];
