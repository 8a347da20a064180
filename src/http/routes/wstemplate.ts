import type { z } from 'zod';
import { toNumber, wstemplateEndpoints } from '../../../protocol/http/wstemplate.ts';
import type { Result } from '../../../protocol/index.ts';
import { bind } from '../bind.ts';
import { iso } from '../iso.ts';

const toWsTemplate = (template: Result<'wstemplate.get'>) => ({
  ws_template_id: template.wsTemplateId,
  name: template.name,
  description: template.description,
  system_prompt: template.systemPrompt,
  prompt_template: template.promptTemplate,
  prompt_template_hash: template.promptTemplateHash,
  model: template.model,
  auto_approve: template.autoApprove,
  auto_approve_tools: template.autoApproveTools,
  temperature: template.temperature,
  reasoning_effort: template.reasoningEffort,
  max_tokens: template.maxTokens,
  token_budget: template.tokenBudget,
  agent_max_turns: template.agentMaxTurns,
  notify_on_complete: template.notifyOnComplete,
  org_id: 'default',
  created_by: template.createdBy,
  enabled: template.enabled,
  version: template.version,
  created: iso(template.createdAtMs),
  updated: iso(template.updatedAtMs),
});

const asText = (json: string | object | undefined) => (typeof json === 'object' ? JSON.stringify(json) : json);

const toFields = (request: z.output<ReturnType<typeof wstemplateEndpoints.create.request>>) => ({
  name: request.name,
  description: request.description,
  systemPrompt: request.system_prompt,
  promptTemplate: request.prompt_template === null ? '' : request.prompt_template,
  model: request.model === null ? '' : request.model,
  autoApprove: request.auto_approve,
  autoApproveTools: request.auto_approve_tools,
  temperature: toNumber(request.temperature),
  reasoningEffort: request.reasoning_effort === null ? ('' as const) : request.reasoning_effort,
  maxTokens: toNumber(request.max_tokens),
  tokenBudget: toNumber(request.token_budget),
  agentMaxTurns: toNumber(request.agent_max_turns),
  notifyOnComplete: asText(request.notify_on_complete),
  enabled: request.enabled,
});

export const wstemplateRoutes = [
  bind(wstemplateEndpoints.list, 'wstemplate.list', {
    params: () => ({}),
    reply: ({ templates }) => ({
      ws_templates: templates.map(({ name, description, model }) => ({ name, description, model })),
    }),
  }),
  bind(wstemplateEndpoints.details, 'wstemplate.details', {
    params: () => ({}),
    reply: ({ templates }) => ({ ws_templates: templates.map(toWsTemplate) }),
  }),
  bind(wstemplateEndpoints.create, 'wstemplate.create', { params: toFields, reply: toWsTemplate }),
  bind(wstemplateEndpoints.get, 'wstemplate.get', {
    params: ({ ws_template_id }) => ({ wsTemplateId: ws_template_id }),
    reply: toWsTemplate,
  }),
  bind(wstemplateEndpoints.update, 'wstemplate.update', {
    params: (request) => ({ wsTemplateId: request.ws_template_id, ...toFields(request) }),
    reply: toWsTemplate,
  }),
  bind(wstemplateEndpoints.remove, 'wstemplate.delete', {
    params: ({ ws_template_id }) => ({ wsTemplateId: ws_template_id }),
    reply: ({ status }) => ({ status }),
  }),
  bind(wstemplateEndpoints.versions, 'wstemplate.versions', {
    params: ({ ws_template_id }) => ({ wsTemplateId: ws_template_id }),
    reply: ({ versions }) => ({
      versions: versions.map(({ version, snapshot, changedBy, createdAtMs }) => ({
        version,
        snapshot: JSON.stringify(toWsTemplate(snapshot)),
        changed_by: changedBy,
        created: iso(createdAtMs),
      })),
    }),
  }),
];
