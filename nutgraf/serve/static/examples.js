// Texts to try: made up, of several kinds of news.

export const EXAMPLES = [
  ["Police", "Police in the northern city of Halden arrested three men on Tuesday on suspicion of stealing paintings worth 12 million euros from a museum last month."],
  ["Weather", "A powerful storm hit the southern coast of Castellan early on Monday, cutting power to more than 300,000 homes and forcing thousands of people to leave their villages."],
  ["Culture", "The director Lena Castell won the top prize at the Porto film festival on Saturday for a drama about three sisters who run a lighthouse during the war."],
  ["Politics", "The parliament of Velmora voted narrowly on Tuesday to lower the voting age to 16, after a debate of nine hours in which eleven members of the governing party sided with the opposition."],
  ["Business", "Software firm Calyx agreed on Friday to buy its rival Northgate Systems for 2.3 billion dollars in cash and shares, to strengthen its position in online payments."],
  ["Court", "A court in the capital sentenced former interior minister Viktor Lemke on Thursday to eight years in prison for taking bribes from a construction company."],
  ["Science", "Scientists have found water ice beneath the dusty surface of a small asteroid, a discovery that could explain how the oceans of the Earth formed billions of years ago."],
  ["Sport", "Marta Okonjo scored twice in the last ten minutes on Saturday as Port Arden came from behind to beat Lindow Rovers 3-2 and reach the final of the women's cup for the first time."],
];
