// The theme of VitePress, with the filter above the page of rules.

import DefaultTheme from 'vitepress/theme';
import { h } from 'vue';

import RuleFilter from './RuleFilter.vue';

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'doc-before': () => h(RuleFilter) }),
};
