/**
 * What makes the newest schema in an empty database. The build puts the result of all migrations here (decision 150); the sources have
 * none, so that the migrations themselves run.
 */
export const newestSchema: readonly string[] | undefined = undefined;
