/** The routes that are also served below `/v1/api/route`, as they begin. */
const ROUTED = ['send', 'approve', 'cancel', 'command', 'workstreams/close', 'workstreams/new', 'workstreams/{ws_id}'];

/** A route below `/v1/api/route`; undefined if it is not served there. */
export const routedOf = (route: string): string | undefined => {
  const [verb = '', path = ''] = route.split(' ');
  const rest = path.startsWith('/v1/api/') ? path.slice('/v1/api/'.length) : '';
  const isRouted = ROUTED.some((known) => rest === known || (known.endsWith('}') && rest.startsWith(`${known}/`)));
  return isRouted ? `${verb} /v1/api/route/${rest}` : undefined;
};
