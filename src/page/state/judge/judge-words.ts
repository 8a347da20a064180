import type { RiskLevel } from '../../../../protocol/events/verdict.ts';
import type { Result } from '../../../../protocol/index.ts';
import { toRaterWords } from '../../../../protocol/text/verdict-words.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';

/** A verdict or a finding, as a row shows it. */
export interface JudgeRecord {
  id: string;
  wsId: string;
  atMs: number;
  risk: RiskLevel;
  tool: string;
  /** What the call does, or what was found. */
  title: string;
  /** What was decided, or what happened to the output. */
  decided: string;
  /** What led to it. */
  details: readonly string[];
}

/** How it was decided about a call; other values are why nobody was asked. */
const DECISIONS: Partial<Record<string, string>> = {
  pending: 'waits for a decision',
  approved: 'approved',
  denied: 'denied',
  timeout: 'not decided in time',
  cancelled: 'cancelled before a decision',
  policy: 'ran unasked: a tool policy allows it',
  blanket: 'ran unasked: everything runs here',
  auto_approve_tools: 'ran unasked: its tool runs here',
  job: 'ran unasked: its job allows it',
  always: 'ran unasked: a rule allows it',
  harmless: 'ran unasked: it is harmless',
  mode: 'ran unasked: the mode allows it',
  smart_approval: 'ran unasked: the judge approved it',
};

/** A verdict as a row shows it. */
export const toVerdictRecord = ({
  verdictId,
  wsId,
  createdAtMs,
  riskLevel,
  tool,
  summary,
  decision,
  reasoning,
  evidence,
  ...rating
}: Result<'verdict.list'>['verdicts'][number]): JudgeRecord => ({
  id: verdictId,
  wsId,
  atMs: createdAtMs,
  risk: riskLevel,
  tool: toVisibleLine(tool),
  title: toVisibleLine(summary),
  decided: DECISIONS[decision] ?? 'ran unasked',
  details: [reasoning, ...evidence, toRaterWords({ ...rating, judge_model: rating.judgeModel }), rating.arguments].map(
    toVisibleLine,
  ),
});

/** A finding of the output guard as a row shows it. */
export const toAssessmentRecord = ({
  assessmentId,
  wsId,
  createdAtMs,
  riskLevel,
  tool,
  flags,
  annotations,
  redacted,
  outputLength,
}: Result<'assessment.list'>['assessments'][number]): JudgeRecord => ({
  id: assessmentId,
  wsId,
  atMs: createdAtMs,
  risk: riskLevel,
  tool: toVisibleLine(tool),
  title: toVisibleLine(annotations[0] ?? flags.join(', ')),
  decided: redacted ? 'secrets were replaced' : 'shown as it was',
  details: [...annotations.slice(1), `${flags.join(', ')} in an output of ${outputLength} characters`].map(
    toVisibleLine,
  ),
});
