import { auditEndpoints } from './accounts/audit.ts';
import { authEndpoints } from './accounts/auth.ts';
import { oidcEndpoints } from './accounts/oidc.ts';
import { orgEndpoints } from './accounts/org.ts';
import { roleEndpoints } from './accounts/role.ts';
import { tokenEndpoints } from './accounts/token.ts';
import { userEndpoints } from './accounts/user.ts';
import { assessmentEndpoints } from './admin/assessment.ts';
import { verdictEndpoints } from './admin/verdict.ts';
import { coordinatorEndpoints } from './agents/coordinator.ts';
import { attachmentEndpoints } from './attachment.ts';
import { channelEndpoints } from './channels/channel.ts';
import { channelHookEndpoints } from './channels/channel-hook.ts';
import { clusterEndpoints } from './cluster.ts';
import { backgroundEndpoints } from './commands/background.ts';
import { subAgentEndpoints } from './commands/sub-agent.ts';
import { watchEndpoints } from './commands/watch.ts';
import { mcpConsentEndpoints } from './consents/mcp-consent.ts';
import { conversationEndpoints } from './conversation.ts';
import type { Endpoint } from './endpoint.ts';
import { eventsEndpoints } from './events.ts';
import { checkpointEndpoints } from './files/checkpoint.ts';
import { fileEndpoints } from './files/file.ts';
import { healthEndpoints } from './health.ts';
import { mcpAdminEndpoints } from './mcp/mcp-admin.ts';
import { mcpRegistryEndpoints } from './mcp/mcp-registry.ts';
import { memoryEndpoints } from './memory.ts';
import { modelsEndpoints } from './models.ts';
import { ruleEndpoints } from './permissions/rule.ts';
import { policyEndpoints } from './policy.ts';
import { planEndpoints } from './questions/plan.ts';
import { scheduleEndpoints } from './schedule.ts';
import { settingsEndpoints } from './settings.ts';
import { sharingEndpoints } from './sharing.ts';
import { skillEndpoints } from './skills/skill.ts';
import { skillResourceEndpoints } from './skills/skill-resource.ts';
import { skillSourceEndpoints } from './skills/skill-source.ts';
import { templateEndpoints } from './template.ts';
import { usageEndpoints } from './usage.ts';
import { workstreamEndpoints } from './workstream.ts';
import { workstreamLineEndpoints } from './workstream-line.ts';
import { wstemplateEndpoints } from './wstemplate.ts';

/** Every JSON and event-stream endpoint, by group. */
export const ENDPOINTS = {
  workstream: workstreamEndpoints,
  workstreamLine: workstreamLineEndpoints,
  checkpoint: checkpointEndpoints,
  file: fileEndpoints,
  attachment: attachmentEndpoints,
  channelHook: channelHookEndpoints,
  conversation: conversationEndpoints,
  background: backgroundEndpoints,
  subAgent: subAgentEndpoints,
  plan: planEndpoints,
  watch: watchEndpoints,
  coordinator: coordinatorEndpoints,
  channel: channelEndpoints,
  mcpConsent: mcpConsentEndpoints,
  sharing: sharingEndpoints,
  events: eventsEndpoints,
  auth: authEndpoints,
  token: tokenEndpoints,
  user: userEndpoints,
  oidc: oidcEndpoints,
  role: roleEndpoints,
  org: orgEndpoints,
  audit: auditEndpoints,
  policies: policyEndpoints,
  assessments: assessmentEndpoints,
  verdicts: verdictEndpoints,
  rules: ruleEndpoints,
  mcpAdmin: mcpAdminEndpoints,
  mcpRegistry: mcpRegistryEndpoints,
  settings: settingsEndpoints,
  schedule: scheduleEndpoints,
  usage: usageEndpoints,
  memory: memoryEndpoints,
  template: templateEndpoints,
  wstemplate: wstemplateEndpoints,
  skill: skillEndpoints,
  skillResource: skillResourceEndpoints,
  skillSource: skillSourceEndpoints,
  models: modelsEndpoints,
  cluster: clusterEndpoints,
  health: healthEndpoints,
} as const satisfies Record<string, Record<string, Endpoint>>;
