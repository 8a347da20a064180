import type { Handlers } from './call.ts';
import type { Broadcast } from './connections/broadcast.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import type { Health } from './health.ts';
import { agentMethods } from './methods/agent.ts';
import { approvalMethods } from './methods/approval.ts';
import { authMethods } from './methods/auth.ts';
import { chatMethods } from './methods/chat.ts';
import { configMethods } from './methods/config.ts';
import { cronMethods } from './methods/cron.ts';
import { eventsMethods } from './methods/events.ts';
import { healthMethods } from './methods/health.ts';
import { logsMethods } from './methods/logs.ts';
import { modelsMethods } from './methods/models.ts';
import { nodeMethods } from './methods/node.ts';
import { outputMethods } from './methods/output.ts';
import { sendMethods } from './methods/send.ts';
import { sessionsMethods } from './methods/sessions.ts';
import { statusMethods } from './methods/status.ts';
import { systemMethods } from './methods/system.ts';
import { tokenMethods } from './methods/token.ts';
import { voicewakeMethods } from './methods/voicewake.ts';
import { wakeMethods } from './methods/wake.ts';
import { workstreamMethods } from './methods/workstream.ts';
import type { Parts } from './parts.ts';
import type { Presence } from './presence.ts';

/** Every method with what answers it. */
export const createHandlers = (
  deps: GatewayDeps,
  parts: Parts & { broadcast: Broadcast; presence: Presence; health: Health },
): Handlers => ({
  ...healthMethods(parts.health),
  ...statusMethods({ ...deps, ...parts }),
  ...systemMethods(parts),
  ...wakeMethods(parts),
  ...voicewakeMethods({ ...deps, ...parts }),
  ...agentMethods({ ...deps, ...parts }),
  ...chatMethods({ ...deps, ...parts }),
  ...sendMethods({ ...deps, ...parts }),
  ...sessionsMethods({ ...deps, ...parts }),
  ...modelsMethods(deps),
  ...logsMethods(deps),
  ...configMethods({ ...deps, ...parts }),
  ...cronMethods({ ...deps, ...parts }),
  ...eventsMethods(parts),
  ...workstreamMethods(parts),
  ...outputMethods({ ...deps, ...parts }),
  ...approvalMethods(parts.approvals),
  ...nodeMethods({ ...deps, ...parts }),
  ...authMethods(deps.auth),
  ...tokenMethods(deps.auth),
});
