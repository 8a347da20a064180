import type { z } from 'zod';
import type { skillEndpoints } from '../../../../protocol/http/skills/skill.ts';
import type { Result } from '../../../../protocol/index.ts';
import { namesIn } from '../../../../protocol/text/trimmed-text.ts';
import { iso } from '../../iso.ts';

type Skill = Result<'skill.get'>;

export const toScanReport = ({ scan }: Pick<Skill, 'scan'>) => ({
  tier: scan.tier,
  composite: scan.composite,
  content_risk: scan.contentRisk,
  supply_risk: scan.supplyRisk,
  vuln_risk: scan.vulnRisk,
  capability_risk: scan.capabilityRisk,
  flags: scan.flags,
  details: {
    content: scan.details.content,
    supply_chain: scan.details.supplyChain,
    vulnerability: scan.details.vulnerability,
    capability: scan.details.capability,
  },
  scanner_version: scan.scannerVersion,
});

/** About four characters are a token. */
const CHARS_PER_TOKEN = 4;

/** A skill in the names of HTTP. */
export const toHttpSkill = (skill: Skill) => ({
  template_id: skill.skillId,
  skill_id: skill.skillId,
  name: skill.name,
  category: skill.category,
  content: skill.content,
  description: skill.description,
  tags: skill.tags,
  variables: skill.variables,
  is_default: skill.activation === 'default',
  activation: skill.activation,
  kind: skill.kind,
  org_id: 'default',
  created_by: skill.createdBy,
  origin: skill.origin,
  mcp_server: '',
  readonly: skill.origin === 'source',
  source_url: skill.sourceUrl,
  digest: skill.digest,
  version: skill.version,
  author: skill.author,
  token_estimate: Math.floor(skill.content.length / CHARS_PER_TOKEN),
  model: skill.model,
  auto_approve: skill.autoApprove,
  temperature: skill.temperature,
  reasoning_effort: skill.reasoningEffort,
  max_tokens: skill.maxTokens,
  token_budget: skill.tokenBudget,
  agent_max_turns: skill.agentMaxTurns,
  notify_on_complete: skill.notifyOnComplete,
  enabled: skill.enabled,
  priority: skill.priority,
  allowed_tools: JSON.stringify(skill.allowedTools),
  wanted_tools: JSON.stringify(skill.wantedTools),
  license: skill.license,
  compatibility: skill.compatibility,
  scan_status: skill.scan.tier,
  risk_level: skill.scan.tier,
  scan_report: toScanReport(skill),
  scan_version: skill.scan.scannerVersion,
  resource_count: skill.resourceCount,
  left_out: skill.leftOut,
  created: iso(skill.createdAtMs),
  updated: iso(skill.updatedAtMs),
});

const asText = (json: string | object | undefined) => (typeof json === 'object' ? JSON.stringify(json) : json);

/** A list, its JSON text, or a text with commas. */
function asNames(given: string | readonly string[] | undefined): string[] | undefined {
  if (typeof given !== 'string') return given && [...given];
  try {
    const parsed: unknown = JSON.parse(given);
    if (Array.isArray(parsed)) return parsed.filter((name) => typeof name === 'string');
  } catch {
    // A text with commas.
  }
  return namesIn(given);
}

/** The fields of a request in the names of the method. */
export const toSkillFields = (request: z.output<ReturnType<typeof skillEndpoints.create.request>>) => ({
  name: request.name,
  category: request.category,
  content: request.content,
  description: request.description,
  tags: asNames(request.tags),
  variables: asText(request.variables),
  isDefault: request.is_default,
  activation: request.activation,
  kind: request.kind,
  author: request.author,
  version: request.version?.toString(),
  license: request.license,
  compatibility: request.compatibility,
  model: request.model === null ? '' : request.model,
  autoApprove: request.auto_approve,
  allowedTools: asNames(request.allowed_tools),
  temperature: request.temperature,
  reasoningEffort: request.reasoning_effort === null ? ('' as const) : request.reasoning_effort,
  maxTokens: request.max_tokens,
  tokenBudget: request.token_budget,
  agentMaxTurns: request.agent_max_turns,
  notifyOnComplete: asText(request.notify_on_complete),
  enabled: request.enabled,
  priority: request.priority,
});
