import type { z } from 'zod';
import { clusterContracts } from './cluster/cluster-methods.ts';
import { connectContracts } from './connect.ts';
import { auditContracts } from './methods/accounts/audit.ts';
import { authContracts } from './methods/accounts/auth.ts';
import { oidcContracts } from './methods/accounts/oidc.ts';
import { orgContracts } from './methods/accounts/org.ts';
import { roleContracts } from './methods/accounts/role.ts';
import { tokenContracts } from './methods/accounts/token.ts';
import { userContracts } from './methods/accounts/user.ts';
import { assessmentContracts } from './methods/admin/assessment.ts';
import { daemonContracts } from './methods/admin/daemon.ts';
import { mcpContracts } from './methods/admin/mcp.ts';
import { policyContracts } from './methods/admin/policy.ts';
import { ruleContracts } from './methods/admin/rule.ts';
import { scheduleContracts } from './methods/admin/schedule.ts';
import { secretsContracts } from './methods/admin/secrets.ts';
import { settingsContracts } from './methods/admin/settings.ts';
import { verdictContracts } from './methods/admin/verdict.ts';
import { agentContracts } from './methods/agent.ts';
import { approvalContracts } from './methods/approval.ts';
import { channelContracts } from './methods/channels/channel.ts';
import { pushContracts } from './methods/channels/push.ts';
import { chatContracts } from './methods/chat.ts';
import { configContracts } from './methods/config.ts';
import { mcpConsentContracts } from './methods/consents/mcp-consent.ts';
import { backgroundContracts } from './methods/conversation/background.ts';
import { checkpointContracts } from './methods/conversation/checkpoint.ts';
import { coordinatorContracts } from './methods/conversation/coordinator.ts';
import { fileContracts } from './methods/conversation/file.ts';
import { planContracts } from './methods/conversation/plan.ts';
import { subAgentContracts } from './methods/conversation/sub-agent.ts';
import { watchContracts } from './methods/conversation/watch.ts';
import { cronContracts } from './methods/cron.ts';
import { eventsContracts } from './methods/events.ts';
import { healthContracts } from './methods/health.ts';
import { logsContracts } from './methods/logs.ts';
import { mcpAdminContracts } from './methods/mcp/mcp-admin.ts';
import { mcpRegistryContracts } from './methods/mcp/mcp-registry.ts';
import { memoryContracts } from './methods/memory.ts';
import { modelsContracts } from './methods/models.ts';
import { nodeContracts } from './methods/node.ts';
import { outputContracts } from './methods/output.ts';
import { sendContracts } from './methods/send.ts';
import { sessionsContracts } from './methods/sessions.ts';
import { skillContracts } from './methods/skills/skill.ts';
import { skillResourceContracts } from './methods/skills/skill-resource.ts';
import { skillSourceContracts } from './methods/skills/skill-source.ts';
import { statusContracts } from './methods/status.ts';
import { systemContracts } from './methods/system.ts';
import { templateContracts } from './methods/templates/template.ts';
import { wstemplateContracts } from './methods/templates/wstemplate.ts';
import { usageContracts } from './methods/usage.ts';
import { wakeContracts } from './methods/wake.ts';
import { workstreamContracts } from './methods/workstream.ts';
import { queueContracts } from './queue/queue-methods.ts';

/** Every method of the gateway. Documents, clients and validation derive from it. */
export const CONTRACTS = {
  ...connectContracts,
  ...healthContracts,
  ...statusContracts,
  ...systemContracts,
  ...wakeContracts,
  ...agentContracts,
  ...chatContracts,
  ...sendContracts,
  ...sessionsContracts,
  ...modelsContracts,
  ...logsContracts,
  ...configContracts,
  ...cronContracts,
  ...eventsContracts,
  ...workstreamContracts,
  ...queueContracts,
  ...clusterContracts,
  ...outputContracts,
  ...backgroundContracts,
  ...watchContracts,
  ...channelContracts,
  ...pushContracts,
  ...mcpConsentContracts,
  ...subAgentContracts,
  ...coordinatorContracts,
  ...usageContracts,
  ...approvalContracts,
  ...planContracts,
  ...nodeContracts,
  ...authContracts,
  ...tokenContracts,
  ...userContracts,
  ...oidcContracts,
  ...roleContracts,
  ...orgContracts,
  ...auditContracts,
  ...policyContracts,
  ...mcpContracts,
  ...mcpAdminContracts,
  ...mcpRegistryContracts,
  ...checkpointContracts,
  ...fileContracts,
  ...assessmentContracts,
  ...verdictContracts,
  ...ruleContracts,
  ...daemonContracts,
  ...secretsContracts,
  ...settingsContracts,
  ...memoryContracts,
  ...scheduleContracts,
  ...templateContracts,
  ...wstemplateContracts,
  ...skillContracts,
  ...skillResourceContracts,
  ...skillSourceContracts,
};

/** The `method` of a request frame. */
export type MethodName = keyof typeof CONTRACTS;
/** Params as a handler gets them, with defaults filled in. */
export type Params<M extends MethodName> = z.output<ReturnType<(typeof CONTRACTS)[M]['params']>>;
/** Params as a caller writes them. */
export type ParamsInput<M extends MethodName> = z.input<ReturnType<(typeof CONTRACTS)[M]['params']>>;
/** The result of a method. */
export type Result<M extends MethodName> = z.output<ReturnType<(typeof CONTRACTS)[M]['result']>>;

/** Whether the gateway has a method of this name. */
export const isMethodName = (name: string): name is MethodName => Object.hasOwn(CONTRACTS, name);
