// Texts to try: made up, of several kinds of news.

export const EXAMPLES = [
  ["Business", "Drug maker Corvane agreed on Tuesday to buy smaller rival Helix Labs for 2.1 billion dollars in cash, its largest takeover in a decade."],
  ["Politics", "Prime Minister Ilona Harsanyi resigned on Friday after her coalition lost a vote of confidence over plans to raise the retirement age to 67."],
  ["Science", "Scientists have found water ice beneath the dusty surface of a small asteroid, a discovery that could explain how the oceans of the Earth formed billions of years ago."],
  ["Sport", "Teenager Aminta Solvane upset defending champion Carla Ventrisi in straight sets on Saturday to win the Easterly Open and become the youngest player to take the title in the tournament's 62 years."],
  ["Court", "A court in the capital sentenced former interior minister Viktor Lemke on Thursday to eight years in prison for taking bribes from a construction company."],
  ["Weather", "A powerful storm hit the southern coast of Castellan early on Monday, cutting power to more than 300,000 homes and forcing thousands of people to leave their villages."],
  ["Culture", "The director Lena Castell won the top prize at the Porto film festival on Saturday for a drama about three sisters who run a lighthouse during the war."],
  ["Police", "Police in the northern city of Halden arrested three men on Tuesday on suspicion of stealing paintings worth 12 million euros from a museum last month."],
];
