import { RISK_LEVELS, type RiskLevel } from '../../../../protocol/events/verdict.ts';
import type { CommandReading } from '../../permissions/command-reading.ts';
import { isHarmless } from '../../permissions/harmless.ts';
import { readCommand } from '../../permissions/read-command.ts';
import type { Around, Assessment, Finding, JudgedCall } from '../assessment.ts';
import { toSummary } from './intent-summary.ts';
import { isDownloader, type Program, toProgram } from './judged-program.ts';
import { pathFindings } from './path-rules.ts';
import { programFindings } from './program-rules.ts';
import { wholeFindings } from './whole-rules.ts';

/**
 * Judges a call by rules over what was read of it. Never throws. It decides on commands and effects; a command that
 * could not be read is never low (decision 77).
 */
export function judgeCall(call: JudgedCall): Assessment {
  const findings = findingsOf(call);
  const level = highestOf(findings);
  const summary = toSummary(call);
  if (level !== undefined) return toAssessment(level, { summary, findings });
  const low = whyHarmless(call);
  if (low !== undefined) return toAssessment('low', { summary, findings: [low] });
  return { level: 'medium', confidence: 0.5, recommendation: 'review', summary, reasoning: UNKNOWN, evidence: [] };
}

const UNKNOWN = 'No rule matches, and not all of its effects are known to be harmless.';

const CONFIDENCE: Record<RiskLevel, number> = { low: 0.85, medium: 0.7, high: 0.8, critical: 0.9 };
const RECOMMENDATION = { low: 'approve', medium: 'review', high: 'review', critical: 'deny' } as const;
const MOST_REASONS = 3;
const MOST_EVIDENCE = 8;

function toAssessment(
  level: RiskLevel,
  { summary, findings }: { summary: string; findings: readonly Finding[] },
): Assessment {
  const sorted = RISK_LEVELS.toReversed().flatMap((one) => findings.filter((finding) => finding.level === one));
  const reasons = new Set(sorted.filter((finding) => finding.level === level).map(({ why }) => toShort(why)));
  const rules = new Set(sorted.map(({ rule }) => `Matched rule: ${rule}`));
  return {
    level,
    confidence: CONFIDENCE[level],
    recommendation: RECOMMENDATION[level],
    summary,
    reasoning: [...reasons].slice(0, MOST_REASONS).join(' '),
    evidence: [...rules].slice(0, MOST_EVIDENCE),
  };
}

const MOST_REASON = 240;
const toShort = (text: string): string => (text.length <= MOST_REASON ? text : `${text.slice(0, MOST_REASON - 1)}…`);

const highestOf = (findings: readonly Finding[]): RiskLevel | undefined =>
  RISK_LEVELS.findLast((level) => findings.some((finding) => finding.level === level));

/** What the specification's judge calls low, apart from commands. */
const HARMLESS_TOOLS = new Set(
  'read_file list_directory search glob read_output recall man use_prompt tool_search read_resource web_search'.split(
    ' ',
  ),
);

function findingsOf(call: JudgedCall): Finding[] {
  const { tool, label, args, around } = call;
  if (tool === 'bash') return ofCommand(call.reading ?? NOT_READ, { text: textOf(args.command), around });
  if (tool === 'node') return ofNode(call);
  if (`${tool}\n${label}`.split('\n').some((name) => name.startsWith('mcp__')))
    return [{ rule: 'mcp-tool', level: 'medium', why: 'A tool of another program does what that program decides.' }];
  const findings = [...pathFindings(call.reading?.effects ?? [], { programs: [], around })];
  return /write|edit|patch/.test(tool) ? findings.flatMap((finding) => ofFileTool(finding, tool)) : findings;
}

/** An edit of an ordinary file has no rule in the specification's judge. */
function ofFileTool(finding: Finding, tool: string): Finding[] {
  const isEdit = tool.startsWith('edit') || tool === 'apply_patch';
  if (finding.rule !== 'write')
    return [isEdit ? { ...finding, rule: finding.rule.replace(/^write-/, 'edit-') } : finding];
  return isEdit ? [] : [{ ...finding, rule: 'write-file-default' }];
}

const NOT_READ: CommandReading = { commands: [], effects: [], gaps: [{ reason: 'not_parsed', at: '' }] };

function ofCommand(reading: CommandReading, { text, around }: { text: string; around: Around }): Finding[] {
  const programs = reading.commands.map(toProgram);
  const parts = [
    ...programs.flatMap((program) => [...programFindings(program, text)]),
    ...pathFindings(reading.effects, { programs, around }),
  ];
  return [...parts, ...wholeFindings({ reading, programs, text, around, parts })];
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const NODE_CALL: Finding = { rule: 'node-command', level: 'medium', why: 'It runs on another machine.' };

/** A command of a node is judged like one here; where files are on that machine is not known. */
function ofNode({ args }: JudgedCall): Finding[] {
  if (args.action === 'list') return [];
  const { argv, cwd, path } = toRecord(args.params);
  const folder = textOf(cwd) || '/nowhere';
  const around = { folder, home: undefined };
  if (Array.isArray(argv)) {
    const text = argv.map((word) => `'${String(word).replaceAll("'", "'\\''")}'`).join(' ');
    return [NODE_CALL, ...ofCommand(readCommand(text, { folder }), { text, around })];
  }
  if (typeof path !== 'string') return [NODE_CALL];
  const kind = /write|delete|edit/.test(textOf(args.command)) ? 'write' : 'read';
  return [NODE_CALL, ...pathFindings([{ kind, target: path, path, certain: true }], { programs: [], around })];
}

const toRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {};

const READ_ONLY: Finding = { rule: 'bash-read-only', level: 'low', why: 'It only reads files that are no secrets.' };

/** Why a call without findings is harmless; undefined if that is not sure. */
function whyHarmless({ tool, args, reading, around }: JudgedCall): Finding | undefined {
  if (HARMLESS_TOOLS.has(tool)) return { rule: tool, level: 'low', why: 'It only reads.' };
  if (tool === 'node')
    return args.action === 'list' ? { rule: 'node-list', level: 'low', why: 'It only lists nodes.' } : undefined;
  if (tool !== 'bash' || reading === undefined) return undefined;
  if (isHarmless(reading, { roots: [around.folder] })) return READ_ONLY;
  const isRead = reading.effects.every(
    ({ kind, target, certain, isIncidental }) =>
      kind === 'read' || isIncidental === true || (kind === 'write' && target === '.git' && !certain),
  );
  const isKnown = reading.gaps.every(({ reason }) => reason === 'unknown_words');
  const isLocal = !reading.commands.map(toProgram).some((program: Program) => isDownloader(program));
  return isRead && isKnown && isLocal && reading.commands.length > 0 ? READ_ONLY : undefined;
}
