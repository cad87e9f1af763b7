package main

// published is a table of McSherry and Schwarzkopf, "The impact of fast networks on
// graph analytics, part 1" (2015), and the lower bounds of part 2.
type published struct {
	graph string
	rows  []publishedRow
}

// publishedRow is of twenty iterations on so many hosts of eight workers: seconds in all
// and an iteration, by column.
type publishedRow struct {
	hosts     int
	total     [3]float64
	iteration [3]float64
	bound     float64 // seconds that an iteration takes at least on 1G; 0 where none was given
}

// publishedColumns are the columns of those tables.
var publishedColumns = [3]string{"1G", "1G+", "10G"}

const publishedWorkers = 8

var twitter = published{"twitter_rv", []publishedRow{
	{1, [3]float64{107.6, 107.6, 107.6}, [3]float64{3.70, 3.70, 3.70}, 0},
	{2, [3]float64{115.2, 89.0, 65.6}, [3]float64{4.66, 3.51, 2.34}, 2.00},
	{4, [3]float64{149.4, 80.9, 40.6}, [3]float64{6.77, 3.33, 1.49}, 1.72},
	{8, [3]float64{145.4, 66.5, 27.6}, [3]float64{6.60, 2.86, 1.05}, 1.46},
	{16, [3]float64{169.3, 51.8, 19.3}, [3]float64{7.51, 2.30, 0.75}, 1.01},
}}

var uk = published{"uk-2007-05", []publishedRow{
	{1, [3]float64{137.1, 137.1, 137.1}, [3]float64{3.29, 3.29, 3.29}, 0},
	{2, [3]float64{173.3, 135.8, 80.7}, [3]float64{6.82, 4.82, 2.31}, 4.81},
	{4, [3]float64{231.9, 119.1, 51.4}, [3]float64{9.06, 4.67, 1.54}, 3.55},
	{8, [3]float64{196.4, 80.1, 34.1}, [3]float64{8.87, 3.18, 1.07}, 2.52},
	{16, [3]float64{231.2, 53.9, 23.7}, [3]float64{10.25, 2.13, 0.76}, 1.72},
}}
