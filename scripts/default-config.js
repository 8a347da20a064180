// Fills in the defaults of config.json when the daemon is built: a start would build all schemas of the configuration for them.

export const defaultConfig = {
  name: 'default-config',
  setup(builder) {
    const file = /[\\/]src[\\/]daemon[\\/]config[\\/]built[\\/]default-config\.ts$/;
    builder.onLoad({ filter: file }, async () => {
      const { Config } = await import('../src/daemon/config/config.ts');
      const defaults = JSON.stringify(Config.parse({}));
      return { contents: `export const defaultConfig = ${JSON.stringify(defaults)};`, loader: 'js' };
    });
  },
};
