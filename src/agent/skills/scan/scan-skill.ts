import type { SkillScan, SkillTier } from '../../../../protocol/methods/skills/skill.ts';
import { isTrustedSite, SCAN_RULES, type ScanAxis, type ScanRule } from './scan-rules.ts';

/** Another one when the rules change: a scan of another version is worth repeating. */
const SCANNER_VERSION = '2';

/** What is scanned of a skill. */
export interface Scanned {
  /** Models read it before the skill is loaded. */
  description: string;
  /** The text after its front matter. */
  text: string;
  /** The tools that its author wants approved. */
  allowedTools: readonly string[];
  files: readonly { path: string; content: string }[];
}

/** One reason for a risk. */
interface Finding {
  axis: ScanAxis;
  flag: string;
  weight: number;
  detail: string;
}

const MOST_RISK = 4;
/** Further findings of an axis weigh less than its worst one. */
const FURTHER = 0.25;
const MOST_DETAILS = 20;
const DETAIL_CHARS = 120;

/** Rates a skill. It runs nothing, and knows only known tricks. */
export function scanSkill({ description, text, allowedTools, files }: Scanned): SkillScan {
  const parts = [{ path: 'description', content: description }, { path: 'SKILL.md', content: text }, ...files];
  const findings = [
    ...parts.flatMap(({ path, content }) => findingsIn(path, content)),
    ...toolFindings(allowedTools),
    ...fileFindings(files),
  ];
  const of = (axis: ScanAxis) => findings.filter((finding) => finding.axis === axis);
  const risks = {
    contentRisk: riskOf(of('content')),
    supplyRisk: riskOf(of('supplyChain')),
    vulnRisk: riskOf(of('vulnerability')),
    capabilityRisk: riskOf(of('capability')),
  };
  const all = Object.values(risks);
  const composite = Math.round(all.reduce((sum, risk) => sum + risk / all.length, 0) * 100) / 100;
  return {
    tier: tierOf(composite, all.includes(MOST_RISK)),
    composite,
    ...risks,
    flags: [...new Set(findings.map(({ flag }) => flag))].sort(),
    details: {
      content: detailsOf(of('content')),
      supplyChain: detailsOf(of('supplyChain')),
      vulnerability: detailsOf(of('vulnerability')),
      capability: detailsOf(of('capability')),
    },
    scannerVersion: SCANNER_VERSION,
  };
}

function tierOf(composite: number, hasWorst: boolean): SkillTier {
  if (composite >= 2.8) return 'critical';
  if (composite >= 2) return 'high';
  if (composite >= 1.2 || hasWorst) return 'medium';
  return composite >= 0.5 ? 'low' : 'safe';
}

/** The worst finding, and a part of each other kind of finding. */
function riskOf(findings: readonly Finding[]): number {
  const byFlag = new Map(findings.map(({ flag, weight }) => [flag, weight]));
  const [worst = 0, ...others] = [...byFlag.values()].sort((a, b) => b - a);
  const further = others.reduce((sum, weight) => sum + weight * FURTHER, 0);
  return Math.min(MOST_RISK, Math.round((worst + further) * 100) / 100);
}

const detailsOf = (findings: readonly Finding[]): string[] =>
  findings.slice(0, MOST_DETAILS).map(({ flag, detail }) => `${flag}: ${detail}`);

const findingsIn = (path: string, content: string): Finding[] => [
  ...SCAN_RULES.flatMap((rule) => matchesOf(rule, path, content)),
  ...siteFindings(path, content),
];

/** At most three matches of each rule. */
function matchesOf(rule: ScanRule, path: string, content: string): Finding[] {
  const found: Finding[] = [];
  for (const match of content.matchAll(rule.pattern)) {
    if (!rule.isOrder && isForbidden(content, match.index)) continue;
    found.push({ axis: rule.axis, flag: rule.flag, weight: rule.weight, detail: detailAt(path, content, match.index) });
    if (found.length >= 3) break;
  }
  return found;
}

/** Whether the sentence forbids what follows: `never use sudo`. */
function isForbidden(content: string, index: number): boolean {
  const before = content.slice(Math.max(0, index - 80), index);
  const sentence = before.split(/[.!?;\n]/).at(-1) ?? '';
  return /\b(?:never|not|don't|doesn't|avoid|instead of|without|must not|cannot|forbidden|refuse)\b/i.test(sentence);
}

function detailAt(path: string, content: string, index: number): string {
  const line = content.slice(0, index).split('\n').length;
  const text = content.slice(index, index + DETAIL_CHARS).split('\n', 1)[0] ?? '';
  return `${path}:${line}: ${text}`;
}

const MOST_SITES = 200;

function siteFindings(path: string, content: string): Finding[] {
  const foreign = new Map<string, number>();
  let count = 0;
  for (const { 1: host = '', index } of content.matchAll(/\bhttps?:\/\/([a-z0-9.-]{1,253})/gi)) {
    count += 1;
    if (count > MOST_SITES) break;
    if (!isTrustedSite(host) && !foreign.has(host.toLowerCase())) foreign.set(host.toLowerCase(), index);
  }
  return [...foreign].map(([, index]) => ({
    axis: 'supplyChain',
    flag: 'unknown-site',
    weight: 1,
    detail: detailAt(path, content, index),
  }));
}

/** What each tool could do; those of other programs, too, because skills name them. */
const TOOL_RISKS: readonly (readonly [RegExp, number, string])[] = [
  [/^\*$/, 4, 'all-tools'],
  [/^(bash|shell|exec|run_command)$/i, 3, 'any-command'],
  [/^(bash|shell|exec)\(\s*(?:(?:\*|:\*|\*:\*)\s*)?\)$/i, 3, 'any-command'],
  [/^(bash|shell|exec)\(/i, 1.5, 'some-commands'],
  [/^(web_?fetch|web_?search|fetch|http)/i, 1.5, 'network'],
  [/^(write|edit|multi_?edit|write_file|edit_file|apply_patch|notebook)/i, 1, 'changes-files'],
  [/^mcp/i, 1, 'tool-server'],
  [/^node$/i, 3, 'other-machines'],
];

const toolFindings = (tools: readonly string[]): Finding[] =>
  tools.flatMap((tool) => {
    const known = TOOL_RISKS.find(([pattern]) => pattern.test(tool));
    return known ? [{ axis: 'capability', flag: known[2], weight: known[1], detail: tool.slice(0, DETAIL_CHARS) }] : [];
  });

const fileFindings = (files: Scanned['files']): Finding[] =>
  files
    .filter(({ path }) => path.startsWith('scripts/'))
    .map(({ path }) => ({
      axis: 'capability',
      flag: 'brings-scripts',
      weight: 1,
      detail: path.slice(0, DETAIL_CHARS),
    }));
