import { attachmentEndpoints } from './attachment.ts';
import { auditEndpoints } from './audit.ts';
import { authEndpoints } from './auth.ts';
import { clusterEndpoints } from './cluster.ts';
import { conversationEndpoints } from './conversation.ts';
import type { Endpoint } from './endpoint.ts';
import { eventsEndpoints } from './events.ts';
import { healthEndpoints } from './health.ts';
import { memoryEndpoints } from './memory.ts';
import { modelsEndpoints } from './models.ts';
import { oidcEndpoints } from './oidc.ts';
import { orgEndpoints } from './org.ts';
import { roleEndpoints } from './role.ts';
import { settingsEndpoints } from './settings.ts';
import { sharingEndpoints } from './sharing.ts';
import { skillEndpoints } from './skill.ts';
import { templateEndpoints } from './template.ts';
import { usageEndpoints } from './usage.ts';
import { userEndpoints } from './user.ts';
import { workstreamEndpoints } from './workstream.ts';
import { workstreamLineEndpoints } from './workstream-line.ts';
import { wstemplateEndpoints } from './wstemplate.ts';

/** Every JSON and event-stream endpoint, by group. */
export const ENDPOINTS = {
  workstream: workstreamEndpoints,
  workstreamLine: workstreamLineEndpoints,
  attachment: attachmentEndpoints,
  conversation: conversationEndpoints,
  sharing: sharingEndpoints,
  events: eventsEndpoints,
  auth: authEndpoints,
  user: userEndpoints,
  oidc: oidcEndpoints,
  role: roleEndpoints,
  org: orgEndpoints,
  audit: auditEndpoints,
  settings: settingsEndpoints,
  usage: usageEndpoints,
  memory: memoryEndpoints,
  template: templateEndpoints,
  wstemplate: wstemplateEndpoints,
  skill: skillEndpoints,
  models: modelsEndpoints,
  cluster: clusterEndpoints,
  health: healthEndpoints,
} as const satisfies Record<string, Record<string, Endpoint>>;
