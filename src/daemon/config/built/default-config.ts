/**
 * The configuration of an empty config.json, as JSON. The build puts it here (decision 150); the sources have none, so that the schema
 * itself fills the defaults in.
 */
export const defaultConfig: string | undefined = undefined;
