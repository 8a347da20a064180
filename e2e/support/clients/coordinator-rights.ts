const inBoth = (path: string): string[] =>
  ['coordinator', 'workstreams'].map((family) => `POST /v1/api/${family}/{ws_id}/${path}`);

/** The methods that decide about coordinators, with their routes: they need `admin.coordinator` and refuse services. */
export const COORDINATION_ROUTES: Readonly<Record<string, readonly string[]>> = {
  'coordinator.trust': inBoth('trust'),
  'coordinator.restrict': inBoth('restrict'),
  'coordinator.stop': inBoth('stop_cascade'),
  'coordinator.close': ['POST /v1/api/workstreams/{ws_id}/close_all_children'],
};
/** The methods that show them. */
export const COORDINATOR_VIEWS = ['list', 'children', 'tasks', 'metrics'].map((view) => `coordinator.${view}`);
export const COORDINATION = Object.keys(COORDINATION_ROUTES);
export const COORDINATOR_ROUTES = Object.values(COORDINATION_ROUTES).flat();

/** Routes that need a second permission, too. */
const ALSO_NEEDED: readonly [RegExp, string][] = [
  [/\/trust$/, 'coordinator.trust.send'],
  [/\/close_all_children$/, 'workstreams.close'],
];
/** How a caller is refused who holds only the first. */
export const refusalOfSecond = (route: string, held: string): string | undefined => {
  const [, permission] = ALSO_NEEDED.find(([pattern]) => pattern.test(route)) ?? [];
  return permission && permission !== held ? `Forbidden: missing '${permission}' permission` : undefined;
};
