import { z } from 'zod';
import { Recommendation, RiskLevel } from '../../../../protocol/events/verdict.ts';
import { isRecord } from '../../../../protocol/is-record.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { Assessment } from '../assessment.ts';

const MOST_TEXT = 1_000;
const MOST_EVIDENCE = 10;
/** Longer answers are not searched. */
const MOST_ANSWER = 32_768;

const Text = z.string().transform((text) => toVisibleLine(text).slice(0, MOST_TEXT));

const Answer = z.object({
  intent_summary: Text.refine((text) => text.trim() !== ''),
  risk_level: RiskLevel,
  confidence: z.number().min(0).max(1),
  recommendation: Recommendation,
  reasoning: Text.default(''),
  evidence: z.array(Text).default([]),
});

/**
 * Reads the verdict from the answer of a model: the whole text, a fenced block, the last braces that are JSON, or single
 * fields. Undefined if it has none, or a malformed one: it is never completed by guessing. Also if it approves although the
 * text has stricter words, too: one of the two may be a quotation of what was judged.
 */
export function readJudgeAnswer(text: string): Assessment | undefined {
  if (text.length > MOST_ANSWER) return undefined;
  for (const candidate of candidatesIn(text)) {
    const parsed = Answer.safeParse(candidate);
    if (parsed.success) return agreed(toAssessment(parsed.data), text);
  }
  return undefined;
}

const STRICTER = /"recommendation"\s*:\s*"\s*(review|deny)|"risk_level"\s*:\s*"\s*(high|critical)/i;

const agreed = (assessment: Assessment, text: string): Assessment | undefined =>
  assessment.recommendation === 'approve' && STRICTER.test(text) ? undefined : assessment;

function toAssessment({ risk_level: level, ...answer }: z.output<typeof Answer>): Assessment {
  // A model that calls a call dangerous and approves it contradicts itself; the stricter half counts.
  const isRisky = level === 'high' || level === 'critical';
  return {
    level,
    confidence: answer.confidence,
    recommendation: isRisky && answer.recommendation === 'approve' ? 'review' : answer.recommendation,
    summary: answer.intent_summary,
    reasoning: answer.reasoning,
    evidence: answer.evidence.slice(0, MOST_EVIDENCE),
  };
}

function* candidatesIn(text: string): Generator<unknown> {
  yield toObject(text);
  for (const [, block = ''] of text.matchAll(/```(?:json)?([\s\S]*?)```/g)) yield toObject(block);
  yield* bracesIn(text);
  yield fieldsIn(text);
}

/** With the small differences that models write. */
function toObject(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text.trim());
    return isRecord(value) ? normalize(value) : undefined;
  } catch {
    return undefined;
  }
}

function normalize(value: Record<string, unknown>): Record<string, unknown> {
  const { risk_level, recommendation, confidence, evidence } = value;
  return {
    ...value,
    ...(typeof risk_level === 'string' && { risk_level: risk_level.trim().toLowerCase() }),
    ...(typeof recommendation === 'string' && { recommendation: recommendation.trim().toLowerCase() }),
    ...(typeof confidence === 'string' &&
      /^(\d+(\.\d+)?|\.\d+)$/.test(confidence) && { confidence: Number(confidence) }),
    ...(typeof evidence === 'string' && { evidence: [evidence] }),
  };
}

const MOST_STARTS = 50;

/** Every text between an opening brace and the matching closing one, the last one first. */
function* bracesIn(text: string): Generator<unknown> {
  const starts = [...text.matchAll(/\{/g)].map(({ index }) => index).slice(-MOST_STARTS);
  for (const start of starts.toReversed()) {
    const end = closingBrace(text, start);
    if (end !== undefined) yield toObject(text.slice(start, end + 1));
  }
}

function closingBrace(text: string, start: number): number | undefined {
  let depth = 0;
  let isQuoted = false;
  for (let at = start; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (isQuoted && char === '\\') at += 1;
    else if (char === '"') isQuoted = !isQuoted;
    else if (!isQuoted && char === '{') depth += 1;
    else if (!isQuoted && char === '}' && --depth === 0) return at;
  }
  return undefined;
}

/** Single fields of a broken object. */
function fieldsIn(text: string): unknown {
  const field = (name: string, value: string) => new RegExp(`"${name}"\\s*:\\s*${value}`).exec(text)?.[1];
  const quoted = '"((?:[^"\\\\]|\\\\.)*)"';
  const [risk_level, recommendation] = [field('risk_level', quoted), field('recommendation', quoted)];
  const confidence = field('confidence', '"?(\\d*\\.?\\d+)');
  return normalize({
    intent_summary: field('intent_summary', quoted),
    risk_level,
    recommendation,
    confidence,
    reasoning: field('reasoning', quoted),
  });
}
