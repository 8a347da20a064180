import { EXAMPLE_VALUES } from './example-values.ts';

interface Operation {
  requestBody?: unknown;
  responses?: object | undefined;
}

/** As much of an OpenAPI document as is changed here. */
interface Document {
  paths?: Record<string, Partial<Record<'get' | 'post' | 'put' | 'delete', Operation>>> | undefined;
}

const errorOf = (description: string, example: object) => ({
  description,
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/ErrorReply' },
      example: { ...example, request_id: EXAMPLE_VALUES.request_id },
    },
  },
});

/** Errors that any call may have, whatever its row says. */
export const generalErrors = {
  BadRequest: errorOf('The request is ambiguous, or a field is invalid.', { error: 'ws_id: must be a text' }),
  Forbidden: errorOf('The host name is unknown, or the request comes from the page of another site.', {
    error: 'Forbidden: this host name is not allowed',
  }),
  TooSlow: errorOf('The body arrived too slowly.', { error: 'The request body arrived too slowly' }),
  TooManyRequests: errorOf('The client has sent too many requests; `Retry-After` says how long to wait.', {
    error: 'Rate limit exceeded',
    retry_after: 0.8,
  }),
  Internal: errorOf('A fault of the daemon; its log has the cause under this id.', {
    error: 'Internal error',
  }),
  Unavailable: errorOf('The disk refuses writes, or the daemon is stopping.', {
    error: 'Cannot write to the disk',
  }),
};

const BY_STATUS: Record<string, keyof typeof generalErrors> = {
  400: 'BadRequest',
  403: 'Forbidden',
  429: 'TooManyRequests',
  500: 'Internal',
  503: 'Unavailable',
};

/** Adds the general errors to every operation; an error of its own takes precedence. */
export function withGeneralErrors<D extends Document>(document: D): D {
  for (const path of Object.values(document.paths ?? {}))
    for (const verb of ['get', 'post', 'put', 'delete'] as const) {
      const operation = path?.[verb];
      if (!operation) continue;
      const general = operation.requestBody === undefined ? BY_STATUS : { ...BY_STATUS, 408: 'TooSlow' };
      const added = Object.entries(general).map(([status, name]) => [
        status,
        { $ref: `#/components/responses/${name}` },
      ]);
      operation.responses = { ...Object.fromEntries(added), ...operation.responses };
    }
  return document;
}
