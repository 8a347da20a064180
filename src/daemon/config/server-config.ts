import { z } from 'zod';
import { LIMITS } from '../../../protocol/limits.ts';
import { isAddressRange } from '../../gateway/auth/client-address.ts';

/** Where the daemon listens if nothing else is given. */
export const DEFAULT_ADDRESS = { host: '127.0.0.1', port: 7717 };

/** A burst below the weight of the heaviest method would always refuse that method. */
const InboundConfig = z.object({
  burst: z
    .int()
    .min(10)
    .max(1_000_000)
    .default(LIMITS.inboundBurst)
    .describe('Requests that one WebSocket connection may send in a burst.'),
  perSecond: z
    .number()
    .min(0.1)
    .max(1_000_000)
    .default(LIMITS.inboundPerSecond)
    .describe('Requests per second of one WebSocket connection.'),
});

const isOrigin = (text: string): boolean => text !== 'null' && URL.parse(text)?.origin === text;

/** Where the daemon listens, under which names browsers reach it, and how much it takes. */
export const ServerConfig = z.object({
  // The defaults are applied after the flags and the environment; here they only document.
  host: z.string().min(1).optional().meta({ default: DEFAULT_ADDRESS.host, description: 'The address to listen on.' }),
  port: z
    .int()
    .min(0)
    .max(65_535)
    .optional()
    .meta({ default: DEFAULT_ADDRESS.port, description: 'The port to listen on; 0 picks any free port.' }),
  allowedHosts: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'Host names, in addition to the loopback ones, under which browsers may reach the daemon: name or name:port.',
    ),
  allowedOrigins: z
    .array(z.string().refine(isOrigin, 'must be an origin without a path, for example https://example.com'))
    .default([])
    .describe('Other sites whose pages may open WebSockets with a token.'),
  publicUrl: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Public address behind a reverse proxy, for login links.'),
  maxWorkstreams: z
    .int()
    .min(1)
    .max(10_000)
    .default(50)
    .describe('Maximum workstreams loaded at once. Beyond it, the oldest idle one is unloaded, never deleted.'),
  /** The rate limit of one WebSocket connection. */
  inbound: InboundConfig.prefault({}),
});

/** How many HTTP requests each client address may send. */
export const RateLimitConfig = z.object({
  enabled: z
    .union([z.literal('auto'), z.boolean()])
    .default('auto')
    .describe('Whether HTTP requests are limited per client address; auto: except those from this machine.'),
  requestsPerSecond: z
    .number()
    .min(0.01)
    .max(1_000_000)
    .default(50)
    .describe('HTTP requests per second for one client.'),
  burst: z.int().min(1).max(1_000_000).default(100).describe('HTTP requests that one client may send in a burst.'),
  trustedProxies: z
    .array(z.string().refine(isAddressRange, 'must be an IP address or a range such as 10.0.0.0/8'))
    .default([])
    .describe('Addresses or ranges of proxies whose X-Forwarded-For is trusted.'),
});
