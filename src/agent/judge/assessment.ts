import type { Recommendation, RiskLevel } from '../../../protocol/events/verdict.ts';
import type { CommandReading } from '../permissions/command-reading.ts';

/** A tool call as the heuristic judge sees it. */
export interface JudgedCall {
  tool: string;
  /** The name of its question, such as `overwrite_file`. */
  label: string;
  /** As parsed; empty if they could not be. */
  args: Readonly<Record<string, unknown>>;
  /** What is known about its effects. */
  reading: CommandReading | undefined;
  around: Around;
}

/** Where calls run. */
export interface Around {
  /** The working directory, as an absolute path. */
  folder: string;
  /** The home of the user; undefined if it is unknown. */
  home: string | undefined;
}

/** What a judge says about a call. */
export interface Assessment {
  level: RiskLevel;
  /** From 0 to 1. */
  confidence: number;
  recommendation: Recommendation;
  /** What the call does, in one sentence. */
  summary: string;
  reasoning: string;
  evidence: string[];
}

/** As much of an assessment as decides in the mode `auto`. */
export type Advice = Pick<Assessment, 'level' | 'confidence' | 'recommendation'>;

/** One reason for a level. */
export interface Finding {
  /** The name of the rule. */
  rule: string;
  level: RiskLevel;
  /** In a sentence. */
  why: string;
}
