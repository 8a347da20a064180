import { attachmentEndpoints } from './attachment.ts';
import { authEndpoints } from './auth.ts';
import { conversationEndpoints } from './conversation.ts';
import type { Endpoint } from './endpoint.ts';
import { eventsEndpoints } from './events.ts';
import { healthEndpoints } from './health.ts';
import { workstreamEndpoints } from './workstream.ts';

/** Every JSON and event-stream endpoint, by group. */
export const ENDPOINTS = {
  workstream: workstreamEndpoints,
  attachment: attachmentEndpoints,
  conversation: conversationEndpoints,
  events: eventsEndpoints,
  auth: authEndpoints,
  health: healthEndpoints,
} as const satisfies Record<string, Record<string, Endpoint>>;
