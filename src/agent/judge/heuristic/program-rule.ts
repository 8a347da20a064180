import type { Finding } from '../assessment.ts';
import type { Program } from './judged-program.ts';

/** A rule about programs by their names. */
export type ProgramRules = Record<string, (program: Program) => Finding | undefined>;

/** Makes a finding. */
export const found = (rule: string, level: Finding['level'], why: string): Finding => ({ rule, level, why });

/** A rule that does not look at arguments. */
export const always = (finding: Finding) => () => finding;
