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
export const COORDINATOR_VIEWS = ['list', 'children', 'tasks'].map((view) => `coordinator.${view}`);
export const COORDINATION = Object.keys(COORDINATION_ROUTES);
export const COORDINATOR_ROUTES = Object.values(COORDINATION_ROUTES).flat();
